import '../subscription/subscription.css';
import '../account/account.css';
import { useQuery } from '@tanstack/react-query';
import { userQuery } from '../../app/account.queries.js';
import { Unavailable } from '../../app/problem.js';
import { READS_ONLY, useMayChange, useUser } from '../../app/session.js';
import { Notice } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { useAccountChanges } from '../account/account.queries.js';
import { Credentials } from '../account/credentials.js';

/** The user's own credentials. */
export default function AccessPage() {
  const { userId } = useUser();
  const mayChange = useMayChange();
  const id = String(userId);
  const { data, error } = useQuery(userQuery(id));
  const changes = useAccountChanges(id);
  if (!data) {
    return (
      <Unavailable title="Access" error={error}>
        Reload the page.
      </Unavailable>
    );
  }
  return (
    <Page title="Access">
      {!mayChange && <Notice tone="waiting">{READS_ONLY}</Notice>}
      <Credentials account={data} changes={changes} />
    </Page>
  );
}
