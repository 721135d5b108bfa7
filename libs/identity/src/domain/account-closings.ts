import { Injectable } from '@nestjs/common';

/** Up to how many of each kind {@link AccountRemains} counts, so that it takes milliseconds. */
export const MOST_COUNTED = 10_000;

/** What has not been removed yet of an account; {@link MOST_COUNTED} stands for that many or more. */
export interface AccountRemains {
  events: number;
  deliveries: number;
}

/** What the other contexts store for accounts. */
export interface AccountData {
  /** Ends everything that the account has, in the caller's transaction. Its data is removed later. */
  end(accountId: string): Promise<void>;
  remains(accountId: string): Promise<AccountRemains>;
}

/** Lets a context that depends on this one take part when an account is closed. */
@Injectable()
export class AccountClosings {
  private data: AccountData | undefined;

  take(data: AccountData): void {
    this.data = data;
  }

  end(accountId: string): Promise<void> {
    return this.required().end(accountId);
  }

  remains(accountId: string): Promise<AccountRemains> {
    return this.required().remains(accountId);
  }

  /** @throws Error in a process without that context: closing only the user would leave its data for ever */
  private required(): AccountData {
    if (!this.data) throw new Error('nothing in this process removes the data of accounts');
    return this.data;
  }
}
