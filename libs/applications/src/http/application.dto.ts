import { applyDecorators } from '@nestjs/common';
import { Check, Field, INTEGER_TOO, IsHttpUrl, IsLabel, IsString, schema } from '#libs/http';
import {
  API_TYPES,
  type ApiType,
  apiTypeOf,
  type ApplicationChanges,
  DEFAULT_API_TYPE,
  environmentIdOf,
  MAX_NAME,
  type NewApplication,
} from '../domain/application.js';

function IsApiType(): PropertyDecorator {
  return applyDecorators(
    IsString(),
    Check(
      'choice',
      `must be one of ${API_TYPES.join(', ')}, in whatever case`,
      (value) => typeof value !== 'string' || apiTypeOf(value) !== undefined,
      { pattern: `^(?:${API_TYPES.map(schema.inAnyCase).join('|')})$` },
    ),
  );
}

/** Whether the two names of one field do not contradict each other. */
function agrees(platform: unknown, { apiType }: Record<string, unknown>): boolean {
  if (typeof platform !== 'string' || typeof apiType !== 'string') return true;
  return apiTypeOf(platform) === apiTypeOf(apiType);
}

function IsEnvironmentReference(): PropertyDecorator {
  const isReference = (value: unknown): value is string | number =>
    typeof value === 'string' || typeof value === 'number';
  return applyDecorators(
    Check('type', 'must be a number or a string', isReference, { type: 'string' }),
    Check(
      'format',
      'must be the address or the id of an environment',
      (value) => !isReference(value) || environmentIdOf(value) !== undefined,
      { description: INTEGER_TOO, pattern: '^(?:[0-9]+|\\S*/v1/environments/[0-9]+/?)$' },
    ),
  );
}

const API_TYPE = { about: 'How the application is driven.', example: 'webapi' };
const NAME = { about: 'The name; it need not be unique.', example: 'Shop' };
const VOICE_URL = {
  about: 'The URL that drives its voice calls.',
  example: 'https://shop.example.com/voice',
};

class ApplicationDto {
  @Field({
    clearable: true,
    about: 'The URL that drives its messages (SMS).',
    example: 'https://shop.example.com/sms',
  })
  @IsHttpUrl()
  messagingUrl?: string | null;

  @Field({
    about: 'The environment that it runs in. By default a development environment.',
    example: 'https://api.example.com/v1/environments/2',
  })
  @IsEnvironmentReference()
  environment?: string | number;

  @Field({ ...API_TYPE, about: `${API_TYPE.about} By default ${DEFAULT_API_TYPE}.` })
  @IsApiType()
  apiType?: string;
}

/** `POST /v1/applications` */
export class CreateApplicationDto extends ApplicationDto {
  @Field({ required: true, trim: true, ...NAME })
  @IsLabel(MAX_NAME)
  name!: string;

  @Field({ requiredUnless: 'messagingUrl', ...VOICE_URL })
  @IsHttpUrl()
  voiceUrl?: string;

  @Field({ ...API_TYPE, about: 'Another name for apiType.' })
  @IsApiType()
  @Check('conflict', 'must equal apiType when both are given', (value, { dto }) =>
    agrees(value, dto),
  )
  platform?: string;

  application(): NewApplication {
    const apiType = this.apiType ?? this.platform;
    return {
      name: this.name,
      voiceUrl: this.voiceUrl,
      messagingUrl: this.messagingUrl ?? undefined,
      environmentId: environmentIdOf(this.environment),
      apiType: typeOf(apiType),
    };
  }
}

/** `PUT /v1/applications/:id` */
export class UpdateApplicationDto extends ApplicationDto {
  @Field({ trim: true, ...NAME })
  @IsLabel(MAX_NAME)
  name?: string;

  @Field({ clearable: true, ...VOICE_URL })
  @IsHttpUrl()
  voiceUrl?: string | null;

  @Field({
    ...API_TYPE,
    about:
      'Another name for apiType. The one of the two that differs from the stored value counts.',
  })
  @IsApiType()
  platform?: string;

  changes(): ApplicationChanges {
    return {
      name: this.name,
      voiceUrl: this.voiceUrl,
      messagingUrl: this.messagingUrl,
      environmentId: environmentIdOf(this.environment),
      apiType: typeOf(this.apiType),
      platform: typeOf(this.platform),
    };
  }
}

function typeOf(text: string | undefined): ApiType | undefined {
  return text === undefined ? undefined : apiTypeOf(text);
}
