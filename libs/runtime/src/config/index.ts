/** For the command line, which would otherwise wait half a second for all of the runtime. */
export { readApiAddress } from './config.js';
