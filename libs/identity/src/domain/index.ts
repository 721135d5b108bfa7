export { Credential } from './credential.js';
export {
  Environment,
  ENVIRONMENT_TYPES,
  EnvironmentsService,
  type EnvironmentType,
  type NewEnvironment,
} from './environments.service.js';
export {
  EnvironmentIdTakenError,
  UnauthorizedError,
  UsernameTakenError,
} from './identity-errors.js';
export type { Principal } from './logins.js';
export { type Role, ROLES, type Status, STATUSES, User } from './user.js';
export { UsersService } from './users.service.js';
