import { Component, type ReactNode } from 'react';
import { Page } from '../components/page.js';
import { sentenceOf } from './api.js';

/** Shows what went wrong in a page; the shell around it still works. */
export class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
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
