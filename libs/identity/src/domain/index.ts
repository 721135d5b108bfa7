export { type CredentialScope, isOperator, OPERATORS, REPORTERS, type Role } from './access.js';
export {
  AccountClosings,
  type AccountData,
  type AccountRemains,
  MOST_COUNTED,
} from './account-closings.js';
export { Credential } from './credential.js';
export { Environment, EnvironmentsService, type NewEnvironment } from './environments.service.js';
export { EnvironmentIdTakenError, UsernameTakenError } from './identity-errors.js';
export type { Principal } from './logins.js';
export { OperatorReads } from './operator-reads.js';
export { type Status, User } from './user.js';
export { UserImporter } from './user-importer.js';
export { UsersService } from './users.service.js';
