import { computed, Field, Is, schema, viewOf } from '#libs/http';
import { httpUrl } from '#libs/kernel';
import {
  API_TYPES,
  apiTypeOf,
  apiTypeValidator,
  type Application,
  type ApplicationChanges,
  DEFAULT_API_TYPE,
  environmentIdOf,
  environmentReference,
  nameValidator,
  type NewApplication,
} from '../domain/application.js';

/** `PUT /v1/applications/:id` */
export class UpdateApplicationDto {
  @Field({ required: true, trim: true, about: 'The name; it need not be unique.', example: 'Shop' })
  @Is(nameValidator)
  name?: string;

  @Field({
    requiredUnless: 'messagingUrl',
    clearable: true,
    about: 'The URL that handles its voice calls.',
    example: 'https://shop.example.com/voice',
  })
  @Is(httpUrl())
  voiceUrl?: string | null;

  @Field({
    clearable: true,
    about: 'The URL that handles its messages (SMS).',
    example: 'https://shop.example.com/sms',
  })
  @Is(httpUrl())
  messagingUrl?: string | null;

  @Field({
    about: 'The environment that it runs in; by default, development.',
    example: 'https://api.example.com/v1/environments/2',
  })
  @Is(environmentReference)
  environment?: string | number;

  @Field({
    about: `The kind of API that controls the application. By default ${DEFAULT_API_TYPE}.`,
    example: 'webapi',
  })
  @Is(apiTypeValidator)
  apiType?: string;

  @Field({
    about: 'Another name for `apiType`.',
    aboutChange: 'If both are given, the one that differs from the stored value counts.',
    example: 'webapi',
  })
  @Is(apiTypeValidator, {
    onlyNew: true,
    code: 'conflict',
    says: 'must equal apiType when both are given',
    holds: (platform, { dto: { apiType } }) =>
      typeof apiType !== 'string' || apiTypeOf(platform) === apiTypeOf(apiType),
  })
  platform?: string;
}

/** `POST /v1/applications` */
export class CreateApplicationDto extends UpdateApplicationDto {
  declare name: string;
}

/** What a body of POST asks for. */
export function newApplicationOf(body: CreateApplicationDto): NewApplication {
  const { platform, ...changes } = changesOf(body);
  return { ...changes, name: body.name, apiType: changes.apiType ?? platform };
}

/** What a body of PUT asks for. */
export function changesOf(body: UpdateApplicationDto): ApplicationChanges {
  const { environment, apiType, platform, ...fields } = body;
  const types = { apiType: apiTypeOf(apiType), platform: apiTypeOf(platform) };
  return { ...fields, environmentId: environmentIdOf(environment), ...types };
}

const { optional } = schema;

/** An application in the form that answers contain. */
export const ApplicationView = viewOf<Application>()('Application', {
  href: computed(schema.href('The address.', 'applications/5080983'), ({ id }, href) =>
    href('applications', id),
  ),
  id: schema.numericId('The id, which is the last segment of `href`.', '5080983'),
  name: schema.text('The name.', 'Shop'),
  platform: computed(
    schema.choice('Always the same as `apiType`.', API_TYPES, 'webapi'),
    ({ apiType }) => apiType,
  ),
  apiType: schema.choice('The kind of API that controls the application.', API_TYPES, 'webapi'),
  voiceUrl: optional(
    schema.text('The URL that handles its voice calls.', 'https://shop.example.com/voice'),
  ),
  messagingUrl: optional(
    schema.text('The URL that handles its messages (SMS).', 'https://shop.example.com/sms'),
  ),
  environment: computed(
    optional(schema.href('The environment that it runs in.', 'environments/2')),
    ({ environmentId }, href) => environmentId && href('environments', environmentId),
  ),
  userId: computed(schema.accountNumber('The user who owns it.'), ({ userId }) => Number(userId)),
  user: computed(schema.href('The address of that user.', 'users/83346'), ({ userId }, href) =>
    href('users', userId),
  ),
  partition: optional(
    schema.text(
      'Only for applications imported from before environments existed: `Production` means billable.',
      'Production',
    ),
  ),
  createdAt: schema.time('When it was created.'),
  updatedAt: schema.time('When a field was last changed.'),
});
