import { parameter, PLUS_AT_START } from '#libs/http';
import { storableText } from '#libs/kernel';

/** A text to look for in the data of events. A shorter one would be in most of them. */
const CONTAINED_TEXT = storableText(200, 3);

/** The filter `contains` of events, and of deliveries. */
export const CONTAINS = parameter.valid(
  CONTAINED_TEXT,
  "Only entries whose event's data contains this text, exactly as it was sent: quotes, spaces, escapes and case count. " +
    'For example, the id of a call or a telephone number. A page searches at most 10,000 events and 16 MiB of data. ' +
    PLUS_AT_START,
  { ...CONTAINED_TEXT.schema, description: '', examples: ['8c1f3a'] },
);
