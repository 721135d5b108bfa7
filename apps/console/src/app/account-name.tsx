import { useQuery } from '@tanstack/react-query';
import { userQuery } from './account.queries.js';

/** An account's username, for the platform. */
export function AccountName({ id }: { id: string }) {
  const { data, isError } = useQuery({ ...userQuery(id), staleTime: 60_000 });
  if (data) return <bdi>{data.username}</bdi>;
  return isError ? `account ${id}` : '…';
}
