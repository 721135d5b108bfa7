export { Public } from '#libs/http';
export { CurrentUser, LimitedTo, PlatformOnly } from './decorators.js';
export { identityRoutes } from './identity.openapi.js';
export { IdentityHttpModule } from './identity-http.module.js';
