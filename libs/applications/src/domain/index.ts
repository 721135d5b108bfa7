export {
  API_TYPES,
  type ApiType,
  Application,
  type ApplicationChanges,
  type NewApplication,
} from './application.js';
export { ApplicationDeletions, ApplicationsService } from './applications.service.js';
