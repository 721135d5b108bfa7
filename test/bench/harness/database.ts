import type pg from 'pg';

/** A database of the one PostgreSQL, and the Redis database that goes with it. */
export interface Database {
  name: string;
  redisNumber: number;
  /** As the owner of everything. */
  pool: pg.Pool;
}
