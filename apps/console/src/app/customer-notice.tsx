import { Link } from 'wouter';
import { Notice } from '../components/notice.js';
import { AccountName } from './account-name.js';
import { ofAccount, useCustomer } from './account.js';

/** Tells an operator whose resources are on the page, and that the customer sees who read them. */
export function CustomerNotice() {
  const customer = useCustomer();
  if (customer === undefined) return null;
  return (
    <aside className="customer" aria-label="Another account">
      <Notice tone="waiting">
        <p>
          This belongs to{' '}
          <Link href={`/accounts/${encodeURIComponent(customer)}`}>
            <AccountName id={customer} />
          </Link>
          . You cannot change it, and{' '}
          <Link href={ofAccount('/audit', customer)}>the audit log of that account</Link> notes that
          you read it.
        </p>
      </Notice>
    </aside>
  );
}
