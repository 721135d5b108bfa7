export * from './domain/index.js';
export { identitySchema } from './infrastructure/identity-schema.js';
export { recordBySystem } from './infrastructure/postgres-audit-trail.js';
export { IdentityModule } from './identity.module.js';
