export * from './domain/index.js';
export { applicationsSchema } from './infrastructure/applications-schema.js';
export { ApplicationsModule } from './infrastructure/applications.module.js';
