import type { Schemas } from './api.js';

/** Those whose name or id has a text in it; one that is called so is the first. */
export function accountsLike(accounts: readonly Schemas['User'][], text: string) {
  const wanted = text.trim().toLowerCase();
  const isCalled = ({ id, username }: Schemas['User']) =>
    username.toLowerCase() === wanted || String(id) === wanted;
  const found = accounts.filter(
    ({ id, username }) => username.toLowerCase().includes(wanted) || String(id).startsWith(wanted),
  );
  return [...found.filter(isCalled), ...found.filter((each) => !isCalled(each))];
}
