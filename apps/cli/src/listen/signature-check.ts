import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';

/** Verifies signatures of Standard Webhooks 1.0.0, as a customer's own web application would. */
export class SignatureCheck {
  private readonly verifiers: readonly Webhook[];

  /**
   * @param secrets any of them may have signed
   * @throws Error for one that is not `whsec_` and Base64; the message does not tell it
   */
  constructor(secrets: readonly string[]) {
    this.verifiers = secrets.map((secret) => {
      try {
        if (secret.startsWith('whsec_')) return new Webhook(secret);
      } catch {
        // The library's own words do not say what a secret looks like.
      }
      throw new Error('a secret must be whsec_ and Base64');
    });
  }

  /** What can be said of the sender of a notification, in a few words. */
  verdict(headers: IncomingHttpHeaders, body: Buffer): string {
    if (this.verifiers.length === 0) return 'unverified (no --secret)';
    let reason = '';
    for (const verifier of this.verifiers) {
      try {
        verifier.verify(body, headers as Record<string, string>, { jsonParse: false });
        return 'verified';
      } catch (error) {
        reason = (error as Error).message;
      }
    }
    return `NOT VERIFIED (${reason})`;
  }
}
