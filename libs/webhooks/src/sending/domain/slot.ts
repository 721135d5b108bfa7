import type { Call, CallLimiter } from './call-limiter.js';

/** Whose delivery needs a slot. */
export interface SlotOwner {
  webhookId: string;
  accountId: string;
  /** A test: its call starts immediately, regardless of what its subscription has in flight. */
  immediate: boolean;
}

/** Whose a slot is, and which limits it counts against. */
export interface Assignment {
  owner: SlotOwner;
  calls: CallLimiter;
  isBeyondShare: boolean;
}

/** Where a slot comes from, and goes back to. */
export interface Slots {
  readonly isStopped: boolean;
  /** @returns undefined if the limits leave no slot for it */
  exchange: (owner: SlotOwner, isUnreserved: boolean) => Assignment | undefined;
  giveBack: (assignment: Assignment | undefined) => void;
}

/**
 * A slot for one delivery and its call. The holder calls {@link release} in a `finally`, so that no failure between
 * acquiring the slot and the end of the call can leave the subscription blocked.
 */
export class Slot {
  private isCalling = false;
  private isReleased = false;

  /**
   * @param assignment absent while the subscription of its delivery is unknown
   * @param isUnreserved whether it was taken outside the reserve
   */
  constructor(
    private readonly slots: Slots,
    private assignment?: Assignment,
    private readonly isUnreserved = false,
  ) {}

  /**
   * Assigns a reserved slot, now that its delivery is known.
   * @returns false if the limits leave no slot for it; this one is then released
   */
  assign(owner: SlotOwner): boolean {
    if (this.isReleased) return false;
    this.isReleased = true;
    this.assignment = this.slots.exchange(owner, this.isUnreserved);
    this.isReleased = this.assignment === undefined;
    return !this.isReleased;
  }

  /**
   * @param leasedAt when the lease was requested, by the clock of `DeliverySlots`
   * @returns whether the call may start; false once the worker stops, after waiting too long for an earlier call to
   * end, or if the subscription was blocked since `leasedAt`. An immediate delivery neither waits nor is blocked
   */
  async start(leasedAt: number): Promise<boolean> {
    const { assignment } = this;
    if (!assignment || this.slots.isStopped) return false;
    const { calls, owner } = assignment;
    if (owner.immediate) calls.startAtOnce();
    this.isCalling = owner.immediate || (await calls.start(leasedAt));
    return this.isCalling;
  }

  /** Prevents the start of its subscription's deliveries that were leased up to now. */
  block(): void {
    this.assignment?.calls.block();
  }

  /** Ends the call, by which the target is judged, and releases the slot. */
  end(call: Call): void {
    this.giveBack(call);
  }

  /**
   * Gives the slot back, once, however often it is called. A call in flight counts as failed on our own side, which
   * says nothing about the target.
   */
  release(): void {
    this.giveBack(undefined);
  }

  private giveBack(call: Call | undefined): void {
    if (this.isReleased) return;
    this.isReleased = true;
    try {
      if (this.isCalling) this.assignment?.calls.end(call);
    } finally {
      this.slots.giveBack(this.assignment);
    }
  }
}
