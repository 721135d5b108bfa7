import { Field, flag, IdField, parseTime, storableText, time, TIME_RULE } from '#libs/kernel';
import { IsUntil } from '../../replays/replay.dto.js';
import type { ErasureRequest } from '../domain/erasure.js';

/** A shorter text would be in most events. */
const TEXT = storableText(200, 4);

/** `POST /v1/erasures` */
export class ErasureRequestDto {
  static readonly refusesUnknown = true;

  @Field(TEXT, {
    required: true,
    about:
      'The text to erase, such as a telephone number. It is searched for in the data of events, exactly as it was sent or ' +
      'with JSON escapes, and in the keys of producers.',
    example: '+14075550100',
  })
  contains!: string;

  @IdField({
    about:
      "Only events of this account: the caller's own, which is the default. Other roles than `account` may name any, and " +
      'without it, events of all accounts are searched.',
    example: '83346',
  })
  accountId?: string;

  @Field(time(), {
    read: parseTime,
    about: `Only events that were accepted at or after this time. It ${TIME_RULE}.`,
    example: '2026-01-31T12:00:00.000Z',
  })
  since?: Date;

  @IsUntil({
    about: 'Only events that were accepted before this time; by default, those before the request.',
  })
  until?: Date;

  @Field(flag(), {
    about: 'Only counts, and erases nothing.',
    default: false,
    example: false,
  })
  dryRun!: boolean;

  /** @param accountId whose events are searched; undefined for all accounts */
  request(accountId: string | undefined): ErasureRequest {
    const { contains, since, until } = this;
    return { contains, accountId, since, until };
  }
}
