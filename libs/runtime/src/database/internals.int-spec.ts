import { Socket } from 'node:net';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { expect, it, vi } from 'vitest';
import { testDatabaseUrl, testRedisUrl } from '../../../../test/support/environment.js';
import { readConfig } from '../config/config.js';
import { dataSourceOptions } from './data-source-options.js';

// What this library uses of TypeORM and pg without a promise of theirs: docs/internals.md.

it('TypeORM: driver.master is the pool of pg', async () => {
  const config = readConfig({
    DATABASE_URL: testDatabaseUrl().toString(),
    REDIS_URL: testRedisUrl().toString(),
  });
  const source = await new DataSource(dataSourceOptions(config)).initialize();
  expect(source.driver).toHaveProperty('master', expect.any(pg.Pool));
  await source.destroy();
});

it('pg: a client has a connection that has a stream, and listeners only below _events', () => {
  const client = new pg.Client() as pg.Client & { connection: pg.Connection };
  expect(client.connection.stream).toBeInstanceOf(Socket);
  const before = new Map(Object.entries(client));
  client.on('error', vi.fn());
  const changed = Object.entries(client).filter(([key, value]) => before.get(key) !== value);
  expect(changed.map(([key]) => key)).toEqual(['_eventsCount']);
  expect(Object.keys(client)).toContain('_events');
});
