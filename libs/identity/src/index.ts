export * from './domain/index.js';
export { IdentityModule } from './identity.module.js';
