/** How the stores are set up: one PostgreSQL and one Redis, each reached directly, unless said otherwise. */
export interface Topology {
  /** The processes reach PostgreSQL through PgBouncer in transaction mode. */
  pgbouncer?: boolean;
  /** Redis is a cluster of three primaries. */
  redisCluster?: boolean;
}
