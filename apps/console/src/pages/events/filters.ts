import type { Filter } from '../../components/filters.js';

/** Filters of events and deliveries that the search field sets. */
export const OF_TEXTS: readonly Filter[] = [
  { name: 'producerId', label: 'Producer’s id', kind: 'choice', accepts: /^[^]{1,255}$/ },
  {
    ...{ name: 'contains', label: 'Text in the data', kind: 'choice' },
    ...{ accepts: /^.{3,200}$/su, hint: 'case-sensitive' },
  },
];
