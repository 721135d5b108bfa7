/** For the command line and `npm start`, because loading the whole runtime takes half a second. */
export { readApiAddress, readProcesses } from './config.js';
