/** The purposes of environments. */
export const ENVIRONMENT_TYPES = ['development', 'production', 'special'] as const;
export type EnvironmentType = (typeof ENVIRONMENT_TYPES)[number];

/** An environment that applications run in. */
export class Environment {
  /** A string of digits. Development is 1 and production 2 on a new installation. */
  id!: string;
  name!: string;
  type!: EnvironmentType;
  billable!: boolean;
}
