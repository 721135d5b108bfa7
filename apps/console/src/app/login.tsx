import './login.css';
import { useMutation } from '@tanstack/react-query';
import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import { Field } from '../components/field.js';
import { Mark } from '../components/mark.js';
import { Notice } from '../components/notice.js';
import { useTitle } from '../components/page.js';
import { durationText } from '../components/time-text.js';
import { faultsOf, sentenceOf } from './api.js';
import { loadOverview } from './pages.js';
import { forgetData, LINK_ENDED, logIn, LoginError } from './session.js';

const MISSING = { username: 'Type your username.', password: 'Type your password.' };

/** The login. It keeps the address, so that the user returns to the same page. */
export default function LoginPage({
  expired,
  linkEnded = false,
}: {
  expired: boolean;
  linkEnded?: boolean;
}) {
  useTitle('Log in');
  useEffect(forgetData, []);
  // Loads the first page while the user types the credentials.
  useEffect(() => void loadOverview().catch(() => undefined), []);
  const form = useRef<HTMLFormElement>(null);
  const [missing, setMissing] = useState<Partial<typeof MISSING>>({});
  const inputOf = (name: string) =>
    form.current?.querySelector<HTMLInputElement>(`input[name=${name}]`);
  const login = useMutation({
    mutationFn: ({ username, password }: { username: string; password: string }) =>
      logIn(username, password),
    // Usually the password was mistyped.
    onError: () => inputOf('password')?.select(),
  });

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const username = (given.get('username') as string).trim();
    const password = given.get('password') as string;
    const { username: noName, password: noPassword } = MISSING;
    setMissing({
      ...(username === '' && { username: noName }),
      ...(password === '' && { password: noPassword }),
    });
    login.reset();
    if (username === '') inputOf('username')?.focus();
    else if (password === '') inputOf('password')?.focus();
    else login.mutate({ username, password });
  }

  const { error } = login;
  const faults = { ...faultsOf(error), ...missing };
  const isWrong = error instanceof LoginError && error.status === 401;
  const isOther = error && !isWrong && Object.keys(faults).length === 0;
  return (
    <main className="login">
      <h1 className="brand">
        <Mark /> Switchhook
      </h1>
      <div className="card">
        {linkEnded && <Notice tone="bad">{LINK_ENDED} Log in, or ask for another one.</Notice>}
        {expired && <Notice tone="waiting">Your session has ended. Log in to go on.</Notice>}
        <form ref={form} onSubmit={submit} noValidate>
          <Field label="Username" error={faults['username']}>
            <input name="username" autoComplete="username" autoFocus required spellCheck={false} />
          </Field>
          <Field label="Password" error={isWrong ? WRONG : faults['password']}>
            <input name="password" type="password" autoComplete="current-password" required />
          </Field>
          <p className="problem" role="alert">
            {isOther && loginSentence(error)}
          </p>
          <button type="submit" className="primary" disabled={login.isPending}>
            Log in
          </button>
        </form>
      </div>
    </main>
  );
}

/** The API says no more, so that logins do not reveal which accounts exist. */
const WRONG = 'The username or the password is wrong, or the account is locked.';

function loginSentence(error: Error): string {
  if (!(error instanceof LoginError) || error.status !== 429) return sentenceOf(error);
  const wait = error.retryAfter;
  const when = wait === undefined ? 'later' : `in ${durationText(wait * 1_000)}`;
  return `There were too many failed logins. Try again ${when}.`;
}
