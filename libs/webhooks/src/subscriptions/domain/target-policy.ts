/** Decides which addresses and ports targets may have. */
export abstract class TargetPolicy {
  abstract allowsPort(port: number): boolean;

  /** @param address a literal IP address */
  abstract allowsAddress(address: string): boolean;
}
