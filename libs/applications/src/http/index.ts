export { applicationsRoutes } from './applications.openapi.js';
export { ApplicationsHttpModule } from './applications-http.module.js';
