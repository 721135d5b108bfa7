export { Dialer } from './dialer.js';
export { NameResolver } from './name-resolver.js';
export { OutboundClient } from './outbound-client.js';
export { isPublicAddress, OutboundPolicy } from './outbound-policy.js';
export { OutboundModule } from './outbound.module.js';
