/** The set-up of the stores; by default one PostgreSQL and one Redis, each reached directly. */
export interface Topology {
  /** The processes reach PostgreSQL through PgBouncer in transaction mode. */
  pgbouncer?: boolean;
  /** Redis is a cluster of three primaries. */
  redisCluster?: boolean;
}
