/** Records when each credential was last used. */
export abstract class CredentialUses {
  /** Notes that the credential was used now. It is stored later, at most once a minute. */
  abstract note(credentialId: string): void;
}
