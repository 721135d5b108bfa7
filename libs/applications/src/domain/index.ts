export { type ApiType, Application, type NewApplication } from './application.js';
export { ApplicationDeletions, ApplicationsService } from './applications.service.js';
