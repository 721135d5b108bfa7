/** For the command line and `npm start`, because loading the whole runtime takes half a second. */
export { readSettings } from './config.js';
export { VERSION } from './version.js';
