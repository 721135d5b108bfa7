/** Keeps when each credential was last used. */
export abstract class CredentialUses {
  /** The credential was used just now; it is written later, and at most once a minute. */
  abstract note(credentialId: string): void;
}
