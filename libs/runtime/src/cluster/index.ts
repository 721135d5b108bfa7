/** For the start of a process, whose primary would otherwise load all of the service. */
export { runProcesses } from './run-processes.js';
