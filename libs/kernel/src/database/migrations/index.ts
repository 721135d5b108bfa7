export { Initial1763700000001 } from './0001-initial.js';
