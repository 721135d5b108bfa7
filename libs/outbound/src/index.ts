export {
  isCallableAddress,
  isCallablePort,
  isPublicAddress,
  type OutboundPolicy,
} from './outbound-policy.js';
