export { Initial1763700000001 } from './0001-initial.js';
export { Flow1763700000002 } from './0002-flow.js';
export { Replay1763700000003 } from './0003-replay.js';
export { Secrets1763700000004 } from './0004-secrets.js';
export { Credentials1763700000005 } from './0005-credentials.js';
export { Idempotency1763700000006 } from './0006-idempotency.js';
export { Audit1763700000007 } from './0007-audit.js';
export { Roles1763700000008 } from './0008-roles.js';
