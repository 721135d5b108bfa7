import { Field, Is } from '#libs/http';
import { flag, parseTime } from '#libs/kernel';
import { IsSince, IsUntil } from '../../replays/replay.dto.js';
import type { OutageSpan } from '../domain/recovery.js';

/** `POST /v1/overview/recover` */
export class RecoverRequestDto {
  @IsSince('When the outage began.')
  since!: string;

  @IsUntil({ about: 'When the outage had ended.', required: true })
  until!: string;

  @Field({ about: 'Only counts, and changes nothing.', default: false, example: false })
  @Is(flag())
  dryRun?: boolean;

  span(): OutageSpan {
    return { since: parseTime(this.since)!, until: parseTime(this.until)! };
  }
}
