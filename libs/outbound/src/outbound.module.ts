import { Module } from '@nestjs/common';
import { OutboundClient } from './outbound-client.js';
import { Dialer } from './dialer.js';
import { OutboundPolicy } from './outbound-policy.js';
import { NameResolver } from './name-resolver.js';

/** Provides the {@link OutboundClient}, and the {@link Dialer} for other protocols. */
@Module({
  providers: [OutboundPolicy, NameResolver, Dialer, OutboundClient],
  exports: [Dialer, OutboundClient],
})
export class OutboundModule {}
