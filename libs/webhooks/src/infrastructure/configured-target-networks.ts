import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config, isCallableAddress } from '#libs/kernel';
import { TargetNetworks } from '../domain/target-networks.js';

/** Public addresses, and those of `DELIVERY_ALLOWED_NETWORKS`. */
@Injectable()
export class ConfiguredTargetNetworks extends TargetNetworks {
  constructor(@Inject(CONFIG) private readonly config: Config) {
    super();
  }

  allows(address: string): boolean {
    return isCallableAddress(address, this.config.DELIVERY_ALLOWED_NETWORKS);
  }
}
