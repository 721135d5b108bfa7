export * from './domain/index.js';
export { ApplicationsModule } from './infrastructure/applications.module.js';
