import type { Schemas } from './api.js';

/** The accounts whose name or id contains a text, an exact match of the name first. */
export function accountsLike(accounts: readonly Schemas['User'][], text: string) {
  const wanted = text.trim().toLowerCase();
  const isCalled = ({ id, username }: Schemas['User']) =>
    username.toLowerCase() === wanted || String(id) === wanted;
  const found = accounts.filter(
    ({ id, username }) => username.toLowerCase().includes(wanted) || String(id).startsWith(wanted),
  );
  return [...found.filter(isCalled), ...found.filter((each) => !isCalled(each))];
}
