export * from './domain/index.js';
export { forgetLoginFailures } from './infrastructure/redis-login-failures.js';
export { identitySchema } from './infrastructure/identity-schema.js';
export { recordBySystem } from './infrastructure/postgres-audit-trail.js';
export { LOCK_USER } from './infrastructure/user.statements.js';
export { IdentityModule } from './identity.module.js';
