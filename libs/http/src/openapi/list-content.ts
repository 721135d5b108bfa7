import { exportContent, linesContent } from '../export-formats.js';
import { EXPORTABLE_PAGE, FEED_PAGE } from '../query-parameters.js';
import type { Schema } from './schema.js';

/** What a list can be besides JSON, by its parameters. */
export function listContent(query: Readonly<Record<string, unknown>>, answer: Schema): object {
  if (query['limit'] === EXPORTABLE_PAGE.limit) return exportContent(answer);
  return query['after'] === FEED_PAGE.after ? linesContent(answer) : {};
}
