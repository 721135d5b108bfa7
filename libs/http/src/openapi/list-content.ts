import { exportContent, linesContent } from '../export-formats.js';
import { EXPORTABLE_PAGE, FEED_PAGE } from '../query-parameters.js';
import type { Schema } from './schema.js';

type Query = Readonly<Record<string, unknown>>;

/** Whether a list with these parameters can be exported. */
export function isExportable({ limit }: Query): boolean {
  return limit === EXPORTABLE_PAGE.limit;
}

/** What a list can be besides JSON, by its parameters. */
export function listContent(query: Query, answer: Schema): object {
  if (isExportable(query)) return exportContent(answer);
  return query['after'] === FEED_PAGE.after ? linesContent(answer) : {};
}
