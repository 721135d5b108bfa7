export { ApplicationsModule } from './applications.module.js';
export * from './domain/index.js';
export { applicationsSchema } from './infrastructure/applications-schema.js';
