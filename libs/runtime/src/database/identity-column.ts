import type { EntitySchemaColumnOptions } from 'typeorm';

/** A numeric id column that the database generates unless a value is given. A string in our code. */
export function identityColumn(primaryKeyConstraintName: string): EntitySchemaColumnOptions {
  return {
    type: 'bigint',
    primary: true,
    primaryKeyConstraintName,
    // TypeORM supports this strategy, but the type of its EntitySchema options lacks it.
    generated: 'identity' as 'increment',
  };
}
