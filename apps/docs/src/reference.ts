import './reference.css';
import SwaggerUI from 'swagger-ui-dist/swagger-ui-bundle.js';
import { ourParts } from './our-parts.js';

/** Built files are in `assets/`, one level below the page. */
const up = '../..';

SwaggerUI({
  url: new URL(`${up}/openapi.json`, import.meta.url).href,
  dom_id: '#main',
  plugins: [ourParts],
  deepLinking: true,
  displayOperationId: true,
  filter: true,
  // Its colours fit only one theme.
  syntaxHighlight: false,
  // The validator would run on another host.
  validatorUrl: null,
  // Otherwise the browser handles a 401 itself, and asks for credentials.
  requestInterceptor: (request: object) => ({ ...request, credentials: 'omit' }),
});
