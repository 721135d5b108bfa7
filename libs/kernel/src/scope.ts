/** The scope of those who see the rows of all accounts; NULL in a statement. */
export const EVERY_ACCOUNT = null;

/** Whose rows are read: those of one account, or of every account. A forgotten id is neither. */
export type Scope = string | typeof EVERY_ACCOUNT;
