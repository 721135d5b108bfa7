/** The prefix of the names of test databases and of their owners. */
export const TEST_DATABASE_PREFIX = 'switchhook_test_';

/** The stores that `npm test` started; tests use no others. */
function required(name: 'TEST_DATABASE_URL' | 'TEST_REDIS_URL'): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run the tests with npm test`);
  return value;
}

/** @throws if the database is not for tests: its name must contain "test" */
export function testDatabaseUrl(): URL {
  const url = new URL(required('TEST_DATABASE_URL'));
  if (!url.pathname.includes('test'))
    throw new Error('the test database has no "test" in its name');
  return url;
}

/**
 * Redis with a separate database number for each test worker, because queues of tests must not mix. The numbers
 * continue from the given address's, if it has one.
 */
export function testRedisUrl(): URL {
  const url = new URL(required('TEST_REDIS_URL'));
  const first = Number(url.pathname.slice(1));
  url.pathname = `/${String(first + Number(process.env.VITEST_POOL_ID ?? 0))}`;
  return url;
}

/** The same database as the role of a process: tests start no process with more rights than it needs. */
export function asRole(url: string, process: 'api' | 'worker'): string {
  const own = new URL(url);
  if (own.username.startsWith(TEST_DATABASE_PREFIX)) own.username += `_${process}`;
  return own.toString();
}

/** Variables of a process's environment; undefined removes one. */
export type Environment = Record<string, string | undefined>;

/** The key that encrypts secrets, by default. */
const SECRETS_KEYS = `test:${Buffer.alloc(32, 'test').toString('base64')}`;

/**
 * The variables of a process under test: these, and those that every test needs. On a test's own database the process
 * has its production role.
 */
export function environmentOf(kind: 'api' | 'worker', environment: Environment): Environment {
  const { DATABASE_URL: url } = environment;
  return {
    // No proxy needs time to notice the end.
    SHUTDOWN_DELAY_MS: '0',
    REDIS_URL: testRedisUrl().toString(),
    SECRETS_KEYS,
    ...environment,
    ...(url !== undefined && { DATABASE_URL: asRole(url, kind) }),
  };
}
