import type { EntitySchemaColumnOptions } from 'typeorm';

/** The column of a numeric id that the database makes unless one is given; a string in our code. */
export function identityColumn(primaryKeyConstraintName: string): EntitySchemaColumnOptions {
  return {
    type: 'bigint',
    primary: true,
    primaryKeyConstraintName,
    // TypeORM knows this strategy, but the type of its EntitySchema options does not tell.
    generated: 'identity' as 'increment',
  };
}
