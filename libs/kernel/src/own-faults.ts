/** Faults of the service itself: of the host's resources, the egress proxy, the resolver, or the network. */
export const OWN_FAULTS = ['resources', 'proxy', 'resolver', 'network'] as const;
export type OwnFault = (typeof OWN_FAULTS)[number];

/** Why a worker holds its deliveries: a fault of our own, or that no target answers. */
export const HOLD_CAUSES = [...OWN_FAULTS, 'unreachable'] as const;
export type HoldCause = (typeof HOLD_CAUSES)[number];
