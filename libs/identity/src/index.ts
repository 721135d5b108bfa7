export * from './domain/index.js';
export { forgetLoginFailures } from './infrastructure/redis-login-failures.js';
export { identitySchema } from './infrastructure/identity-schema.js';
export { recordBySystem, recordForUser } from './infrastructure/postgres-audit.js';
export { LOCK_USER } from './infrastructure/typeorm-repositories.js';
export { IdentityModule } from './identity.module.js';
