import { CredentialUses } from './credential-uses.js';

/** Records every use. */
export class FakeCredentialUses extends CredentialUses {
  readonly noted: string[] = [];

  override note(credentialId: string): void {
    this.noted.push(credentialId);
  }
}
