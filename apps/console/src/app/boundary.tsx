import { Component, type ReactNode } from 'react';
import { Page } from '../components/page.js';
import { sentenceOf } from './api.js';

interface Props {
  children: ReactNode;
  /** What is shown instead; unless given, a page that says what went wrong. */
  fallback?: ReactNode;
}

/** Contains what goes wrong inside of it; what is around it still works. */
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
    return (
      <Page title="This page does not work">
        <p className="problem">{sentenceOf(error)}</p>
        <button type="button" onClick={() => window.location.reload()}>
          Reload
        </button>
      </Page>
    );
  }
}
