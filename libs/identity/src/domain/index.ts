export { Credential } from './credential.js';
export { Environment, ENVIRONMENT_TYPES, type EnvironmentType } from './environment.js';
export type { NewEnvironment } from './environments.repository.js';
export { EnvironmentsService } from './environments.service.js';
export { EnvironmentIdTaken, UnauthorizedError, UsernameTaken } from './identity-errors.js';
export type { Principal } from './principal.js';
export { type Role, ROLES, type Status, STATUSES, User } from './user.js';
export { UsersService } from './users.service.js';
