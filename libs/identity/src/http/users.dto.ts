import { applyDecorators } from '@nestjs/common';
import { Check, Field, IsChoice, IsString, IsTime, parseTime } from '#libs/http';
import { isStorable } from '#libs/kernel';
import { EXPIRY_RULE, isExpiry } from '../domain/credential.js';
import {
  hasPasswordLength,
  isUsername,
  PASSWORD_MAX,
  PASSWORD_MIN,
  type Role,
  ROLES,
  type Status,
  STATUSES,
  USERNAME,
  USERNAME_RULE,
} from '../domain/user.js';

const isString = (value: unknown): value is string => typeof value === 'string';

function IsUsername(): PropertyDecorator {
  return applyDecorators(
    IsString(),
    Check('format', USERNAME_RULE, (value) => !isString(value) || isUsername(value), {
      pattern: USERNAME.source,
    }),
  );
}

function IsPassword(): PropertyDecorator {
  return applyDecorators(
    IsString(),
    Check(
      'length',
      `must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters`,
      (value) => !isString(value) || hasPasswordLength(value),
      { minLength: PASSWORD_MIN, maxLength: PASSWORD_MAX },
    ),
    Check(
      'format',
      'must not contain U+0000 or lone surrogates',
      (value) => !isString(value) || isStorable(value),
      { pattern: '^[^\\u0000]*$' },
    ),
  );
}

function IsExpiry(): PropertyDecorator {
  const isPast = (time: Date | undefined): boolean => time !== undefined && !isExpiry(time);
  return applyDecorators(
    IsTime(),
    Check('range', EXPIRY_RULE, (value) => !isString(value) || !isPast(parseTime(value))),
  );
}

const PASSWORD = {
  about: 'Without it, the service generates a password and shows it only in this answer.',
  example: 'correct horse battery staple',
};

/** The body of `POST /v1/users`. */
export class CreateUserDto {
  @Field({ required: true, about: 'Unique.', example: 'partner.one' })
  @IsUsername()
  username!: string;

  @Field({ about: 'The role.', example: 'account', default: 'account' })
  @IsChoice(ROLES)
  role?: Role;

  @Field(PASSWORD)
  @IsPassword()
  password?: string;
}

/** The body of `PUT /v1/users/:id`. */
export class UpdateUserDto {
  @Field({ about: "A locked user's credentials are refused.", example: 'locked' })
  @IsChoice(STATUSES)
  status?: Status;
}

/** The body of `POST /v1/users/:id/credentials`. */
export class CreateCredentialDto {
  @Field(PASSWORD)
  @IsPassword()
  password?: string;

  @Field({
    about: 'When the credential expires; by default never.',
    example: '2099-12-31T23:59:59.000Z',
  })
  @IsExpiry()
  expiresAt?: string;
}
