/** For the command line and `npm start`, which would otherwise wait half a second for all of the runtime. */
export { readApiAddress, readProcesses } from './config.js';
