import './load.css';
import { shareText } from './loads.js';

/** An account's share of the workers' time, as a number and a bar. */
export function ShareBar({ share }: { share: number }) {
  return (
    <span className="share">
      <span className="bar" aria-hidden>
        <span style={{ width: `${share * 100}%` }} />
      </span>
      <span className="percent">{shareText(share)}</span>
    </span>
  );
}
