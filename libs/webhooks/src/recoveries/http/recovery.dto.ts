import { Field, flag } from '#libs/kernel';
import { IsSince, IsUntil } from '../../replays/replay.dto.js';

/** `POST /v1/overview/recover` */
export class RecoverRequestDto {
  static readonly refusesUnknown = true;

  @IsSince('When the outage started.')
  since!: Date;

  @IsUntil({ about: 'When the outage ended.', required: true })
  until!: Date;

  @Field(flag(), { about: 'Only counts, and changes nothing.', default: false, example: false })
  dryRun!: boolean;
}
