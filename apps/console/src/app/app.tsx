import { useQuery } from '@tanstack/react-query';
import { Mark } from '../components/mark.js';
import { Notice } from '../components/notice.js';
import { sentenceOf } from './api.js';
import { LoginPage } from './login.js';
import { sessionQuery } from './session.js';
import { Shell } from './shell.js';

/** The login, or the current page inside the shell. */
export function App() {
  const { data, error, refetch } = useQuery(sessionQuery);
  if (data) return data.user ? <Shell key={data.user.userId} /> : <LoginPage {...data} />;
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
