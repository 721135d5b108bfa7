export { Public } from '#libs/http';
export { ActAsUser } from './actor.interceptor.js';
export { CurrentUser, LimitedTo, PlatformOnly } from './decorators.js';
export { identityRoutes } from './identity.openapi.js';
export { IdentityHttpModule } from './identity-http.module.js';
