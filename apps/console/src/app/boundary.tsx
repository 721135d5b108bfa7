import { Component, type ReactNode, useEffect } from 'react';
import { Page } from '../components/page.js';
import { showToast } from '../components/toast.js';
import { sentenceOf } from './api.js';
import { reloadIfUp } from './reload.js';
import { reopenings } from './stream.js';

async function tryAgain(): Promise<void> {
  if (!(await reloadIfUp())) showToast('The server still does not answer.', 'bad');
}

interface Props {
  children: ReactNode;
  /** Replaces the failed content; by default, a page with the error. */
  fallback?: ReactNode;
}

/** Contains errors of its children, so that the rest of the page keeps working. */
export class Boundary extends Component<Props, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    const { children, fallback } = this.props;
    if (error === undefined) return children;
    if (fallback !== undefined) return fallback;
    return <Broken error={error} />;
  }
}

/** Replaces a page that failed. When the server is back after it was away, the page is loaded again. */
function Broken({ error }: { error: unknown }) {
  useEffect(() => reopenings.follow(() => void reloadIfUp()), []);
  return (
    <Page title="This page does not work">
      <p className="problem">{sentenceOf(error)}</p>
      <button type="button" className="primary" onClick={() => void tryAgain()}>
        Try again
      </button>
    </Page>
  );
}
