import { type Parameters, PLUS_AT_START } from '#libs/http';
import { storableText } from '#libs/kernel';

/** A text to look for in the data of events. A shorter one would be in most of them. */
export const CONTAINED_TEXT = storableText(200, 3);

/** The filter `contains` of events, and of deliveries. */
export const CONTAINS: Parameters[string] = {
  about:
    "With this text in the event's data, exactly as they were sent, from `{` to `}`: quotes, blanks and escapes count. " +
    'For example the id of a call, or a telephone number. A page looks at 10,000 events and 16 MiB of data at most. ' +
    PLUS_AT_START,
  schema: { ...CONTAINED_TEXT.schema, description: '', examples: ['8c1f3a'] },
};
