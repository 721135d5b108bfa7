export { API_TYPES, type ApiType } from './domain/api-type.js';
export { Application, type ApplicationChanges, type NewApplication } from './domain/application.js';
export { ApplicationDeletions } from './domain/application-deletions.js';
export { ApplicationsService } from './domain/applications.service.js';
export { ApplicationsModule } from './infrastructure/applications.module.js';
