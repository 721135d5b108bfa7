export { Credential } from './domain/credential.js';
export { Environment, ENVIRONMENT_TYPES, type EnvironmentType } from './domain/environment.js';
export type { NewEnvironment } from './domain/environments.repository.js';
export { EnvironmentsService } from './domain/environments.service.js';
export { EnvironmentIdTaken, UnauthorizedError, UsernameTaken } from './domain/identity-errors.js';
export type { Principal } from './domain/principal.js';
export { type Role, ROLES, type Status, STATUSES, User } from './domain/user.js';
export { UsersService } from './domain/users.service.js';
export { IdentityModule } from './identity.module.js';
