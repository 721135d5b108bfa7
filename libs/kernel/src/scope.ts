/** The scope of those who see the rows of all accounts; NULL in a statement. */
export const EVERY_ACCOUNT = null;

/** The rows to read: of one account, or of every account. A missing id is neither. */
export type Scope = string | typeof EVERY_ACCOUNT;
