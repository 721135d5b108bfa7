import { Field, type HrefBuilder, IsChoice, IsFlag, IsId, IsLabel, schema } from '#libs/http';
import {
  type Environment,
  ENVIRONMENT_TYPES,
  type EnvironmentType,
} from '../domain/environment.js';

const NAME_MAX = 255;

/** The body of `POST /v1/environments`. */
export class CreateEnvironmentDto {
  @Field({ about: 'An id of your own choice; else the next one.', example: 70 })
  @IsId()
  id?: string | number;

  @Field({ required: true, trim: true, about: 'What it is called.', example: 'Partner tests' })
  @IsLabel(NAME_MAX)
  name!: string;

  @Field({ required: true, about: 'What it is for.', example: 'special' })
  @IsChoice(ENVIRONMENT_TYPES)
  type!: EnvironmentType;

  @Field({ required: true, about: 'Whether what runs in it is billed.', example: false })
  @IsFlag()
  billable!: boolean;
}

/** What {@link showEnvironment} shows. */
export const EnvironmentSchema = schema.named(
  'Environment',
  schema.object({
    id: schema.numericId('Its id.', '2'),
    href: schema.href('Its address.', 'environments/2'),
    name: schema.text('What it is called.', 'Production'),
    type: schema.choice('What it is for.', ENVIRONMENT_TYPES, 'production'),
    billable: schema.flag('Whether what runs in it is billed.', true),
  }),
);

/** An environment as answers show it. */
export function showEnvironment(environment: Environment, href: HrefBuilder): object {
  const { id, name, type, billable } = environment;
  return { id, href: href('environments', id), name, type, billable };
}
