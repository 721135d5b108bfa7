import type pg from 'pg';

/** A database of the shared PostgreSQL, and its Redis database. */
export interface Database {
  name: string;
  redisNumber: number;
  /** Connects as the owner of everything. */
  pool: pg.Pool;
}
