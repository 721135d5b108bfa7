export { API_TYPES, type ApiType } from './api-type.js';
export { Application, type ApplicationChanges, type NewApplication } from './application.js';
export { ApplicationDeletions } from './application-deletions.js';
export { ApplicationsService } from './applications.service.js';
