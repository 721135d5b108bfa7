/** The set-up of the stores. By default, processes connect directly to one PostgreSQL and one Redis. */
export interface Topology {
  /** Processes connect to PostgreSQL through PgBouncer in transaction mode. */
  pgbouncer?: boolean;
  /** Redis is a cluster of three primaries. */
  redisCluster?: boolean;
}
