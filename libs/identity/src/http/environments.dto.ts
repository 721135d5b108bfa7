import { Field, type HrefBuilder, IsChoice, IsFlag, IsId, IsLabel, schema } from '#libs/http';
import {
  type Environment,
  ENVIRONMENT_TYPES,
  type EnvironmentType,
} from '../domain/environment.js';

const NAME_MAX = 255;

/** The body of `POST /v1/environments`. */
export class CreateEnvironmentDto {
  @Field({ about: 'An id of your choice; by default the next free one.', example: 70 })
  @IsId()
  id?: string | number;

  @Field({ required: true, trim: true, about: 'The name.', example: 'Partner tests' })
  @IsLabel(NAME_MAX)
  name!: string;

  @Field({ required: true, about: 'The purpose.', example: 'special' })
  @IsChoice(ENVIRONMENT_TYPES)
  type!: EnvironmentType;

  @Field({ required: true, about: 'Whether its applications are billed.', example: false })
  @IsFlag()
  billable!: boolean;
}

/** The result of {@link showEnvironment}. */
export const EnvironmentSchema = schema.named(
  'Environment',
  schema.object({
    id: schema.numericId('The id.', '2'),
    href: schema.href('The address.', 'environments/2'),
    name: schema.text('The name.', 'Production'),
    type: schema.choice('The purpose.', ENVIRONMENT_TYPES, 'production'),
    billable: schema.flag('Whether its applications are billed.', true),
  }),
);

/** An environment in the form that answers contain. */
export function showEnvironment(environment: Environment, href: HrefBuilder): object {
  const { id, name, type, billable } = environment;
  return { id, href: href('environments', id), name, type, billable };
}
