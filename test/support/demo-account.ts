import { expect } from 'vitest';
import { createUser } from './accounts.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { type Answer, type Client, clientOf } from './http.js';
import { apiInProcess, type Running } from './in-process.js';
import type { Environment } from './environment.js';

/** An API on its own database, and an account that uses it. */
export interface DemoAccount {
  id: string;
  auth: string;
  api: Running;
  client: Client;
  database: TestDatabase;
  /** @returns the path of a new application */
  anApplication: (fields?: object) => Promise<string>;
  /** @returns the path of a new subscription that replaces the account's others */
  aSubscription: (fields?: object, collection?: string) => Promise<string>;
  /** The answer to a `GET`. */
  shown: (path: string) => Promise<Record<string, unknown>>;
  stop: () => Promise<void>;
}

export const minimalApplication = { name: 'Switchboard', voiceUrl: 'http://voice.example/start' };
export const minimalSubscription = {
  event: 'cdrCreated',
  resource: 'all',
  targetUrl: 'https://target.example/hook',
};

/**
 * @param environment further variables of the API
 * @param startApi by default in the test's process
 */
export async function startDemoAccount(
  environment: Environment = {},
  startApi: (environment: Environment) => Promise<Running> = apiInProcess,
): Promise<DemoAccount> {
  const database = await createTestDatabase();
  const { id, auth } = await createUser(database, 'demo');
  const api = await startApi({ DATABASE_URL: database.url, ...environment });
  const client = clientOf(api.url, auth);
  const create = async (collection: string, body: object): Promise<string> => {
    const answer = await client.post(collection, body);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return new URL(answer.json<{ href: string }>().href).pathname;
  };
  return {
    id,
    auth,
    api,
    client,
    database,
    anApplication: (fields = {}) =>
      create('/v1/applications', { ...minimalApplication, ...fields }),
    aSubscription: async (fields = {}, collection = '/v1/webhooks') => {
      await database.query('UPDATE webhooks SET deleted_at = now() WHERE deleted_at IS NULL');
      return create(collection, { ...minimalSubscription, ...fields });
    },
    shown: async (path) => (await client.get(path)).json(),
    stop: async () => {
      await api.stop();
      await database.drop();
    },
  };
}

/** The faults of a validation error: field and code, sorted. */
export function faultsOf(answer: Answer): string[] {
  const problem = answer.json<{
    code: string;
    error: string;
    errors: { field: string; code: string }[];
  }>();
  expect([answer.status, problem.code]).toEqual([400, 'validation_failed']);
  for (const { field } of problem.errors) expect(problem.error).toContain(field);
  return problem.errors.map(({ field, code }) => `${field} ${code}`).sort();
}
