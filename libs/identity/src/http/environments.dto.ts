import { computed, schema, viewOf } from '#libs/http';
import { Field, flag, IdField, label, oneOf } from '#libs/kernel';
import {
  type Environment,
  ENVIRONMENT_TYPES,
  type EnvironmentType,
} from '../domain/environments.service.js';

/** The body of `POST /v1/environments`. */
export class CreateEnvironmentDto {
  @IdField({ about: 'An id of your choice; by default the next free one.', example: '70' })
  id?: string;

  @Field(label(255), { required: true, trim: true, about: 'The name.', example: 'Partner tests' })
  name!: string;

  @Field(oneOf(ENVIRONMENT_TYPES), { required: true, about: 'The purpose.', example: 'special' })
  type!: EnvironmentType;

  @Field(flag(), { required: true, about: 'Whether its applications are billed.', example: false })
  billable!: boolean;
}

/** The answer to a new environment. */
export const CreatedEnvironmentSchema = schema.named(
  'CreatedEnvironment',
  schema.object({
    href: schema.href('The address.', 'environments/3'),
    id: schema.numericId('The id.', '3'),
  }),
);

/** An environment in the form that answers contain. */
export const EnvironmentView = viewOf<Environment>()('Environment', {
  id: schema.numericId('The id.', '2'),
  href: computed(schema.href('The address.', 'environments/2'), ({ id }, href) =>
    href('environments', id),
  ),
  name: schema.text('The name.', 'Production'),
  type: schema.choice('The purpose.', ENVIRONMENT_TYPES, 'production'),
  billable: schema.flag('Whether its applications are billed.', true),
});
