import { computed, schema, viewOf } from '#libs/http';
import { Field, flag, IdField, label, oneOf } from '#libs/kernel';
import {
  type Environment,
  ENVIRONMENT_TYPES,
  type EnvironmentType,
} from '../domain/environments.service.js';

/** The body of `POST /v1/environments`. */
export class CreateEnvironmentDto {
  @IdField({ about: "The environment's id; by default, the next free one.", example: '70' })
  id?: string;

  @Field(label(255), {
    required: true,
    trim: true,
    about: "The environment's name.",
    example: 'Partner tests',
  })
  name!: string;

  @Field(oneOf(ENVIRONMENT_TYPES), {
    required: true,
    about: "The environment's purpose.",
    example: 'special',
  })
  type!: EnvironmentType;

  @Field(flag(), {
    required: true,
    about: 'Whether applications in the environment are billed.',
    example: false,
  })
  billable!: boolean;
}

/** The answer to a new environment. */
export const CreatedEnvironmentSchema = schema.named(
  'CreatedEnvironment',
  schema.object({
    href: schema.href("The environment's URL.", 'environments/3'),
    id: schema.numericId("The environment's id.", '3'),
  }),
);

/** An environment in the form that answers contain. */
export const EnvironmentView = viewOf<Environment>()('Environment', {
  id: schema.numericId("The environment's id.", '2'),
  href: computed(schema.href("The environment's URL.", 'environments/2'), ({ id }, href) =>
    href('environments', id),
  ),
  name: schema.text("The environment's name.", 'Production'),
  type: schema.choice("The environment's purpose.", ENVIRONMENT_TYPES, 'production'),
  billable: schema.flag('Whether applications in the environment are billed.', true),
});
