/** Which addresses notifications may be sent to. */
export abstract class TargetNetworks {
  /** Whether the IP address is public, or in a network that this installation allows. */
  abstract allows(address: string): boolean;
}
