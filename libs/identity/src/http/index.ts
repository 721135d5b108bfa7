export { Public } from '#libs/http';
export { AllowedTo, NeedsScope } from './access.guard.js';
export { ACCOUNT_READ, accountRead, accountShown, ownerSeen } from './account-shown.js';
export { ActAsUser, CurrentActor, CurrentUser } from './current-user.js';
export { identityRoutes } from './identity.openapi.js';
export { IdentityHttpModule } from './identity-http.module.js';
export { LimitedTo } from './rate-limit.guard.js';
export { UnauthorizedError } from '../domain/identity-errors.js';
