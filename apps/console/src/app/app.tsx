import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Mark } from '../components/mark.js';
import { Notice } from '../components/notice.js';
import { sentenceOf } from './api.js';
import { sessionQuery } from './session.js';
import { Shell } from './shell.js';

const LoginPage = lazy(() => import('./login.js'));

/** The login, or the current page inside the shell. */
export function App() {
  const { data, error, refetch } = useQuery(sessionQuery);
  if (data?.user) return <Shell key={data.user.userId} />;
  if (data) {
    return (
      <Suspense>
        <LoginPage {...data} />
      </Suspense>
    );
  }
  if (!error) return null;
  return (
    <main className="login">
      <div className="card">
        <h1 className="brand">
          <Mark /> Switchhook
        </h1>
        <Notice tone="bad">{sentenceOf(error)}</Notice>
        <button type="button" className="primary" onClick={() => void refetch()}>
          Try again
        </button>
      </div>
    </main>
  );
}
