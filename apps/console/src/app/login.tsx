import { useMutation } from '@tanstack/react-query';
import { type SubmitEvent, useEffect } from 'react';
import { Field } from '../components/field.js';
import { Mark } from '../components/mark.js';
import { Notice } from '../components/notice.js';
import { useTitle } from '../components/page.js';
import { durationText } from '../components/time-text.js';
import { faultsOf, sentenceOf } from './api.js';
import { loadOverview } from './pages.js';
import { forgetData, logIn, LoginError } from './session.js';

/** Shown at every address while nobody is logged in, so that the login leads back to where one was. */
export function LoginPage({ expired }: { expired: boolean }) {
  useTitle('Log in');
  useEffect(forgetData, []);
  // It is loaded while the credentials are typed.
  useEffect(() => void loadOverview().catch(() => undefined), []);
  const login = useMutation({
    mutationFn: ({ username, password }: { username: string; password: string }) =>
      logIn(username, password),
  });

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => form.get(name) as string;
    login.mutate({ username: text('username').trim(), password: text('password') });
  }

  const { error } = login;
  const faults = faultsOf(error);
  const isWrong = error instanceof LoginError && error.status === 401;
  const isOther = error && !isWrong && Object.keys(faults).length === 0;
  return (
    <main className="login">
      <div className="card">
        <h1 className="brand">
          <Mark /> Switchhook
        </h1>
        {expired && <Notice tone="waiting">Your session has ended. Log in to go on.</Notice>}
        <form onSubmit={submit}>
          <Field label="Username" error={faults['username']}>
            <input name="username" autoComplete="username" autoFocus required spellCheck={false} />
          </Field>
          <Field
            label="Password"
            error={isWrong ? 'The username or the password is wrong.' : faults['password']}
          >
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

function loginSentence(error: Error): string {
  if (!(error instanceof LoginError) || error.status !== 429) return sentenceOf(error);
  const wait = error.retryAfter;
  const when = wait === undefined ? 'later' : `in ${durationText(wait * 1_000)}`;
  return `There were too many failed logins. Try again ${when}.`;
}
