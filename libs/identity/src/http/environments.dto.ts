import { Field, IsChoice, IsFlag, IsId, IsLabel } from '#libs/http';
import { ENVIRONMENT_TYPES, type EnvironmentType } from '../domain/environments.service.js';

const NAME_MAX = 255;

/** The body of `POST /v1/environments`. */
export class CreateEnvironmentDto {
  @Field({ about: 'An id of your choice; by default the next free one.', example: '70' })
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
