import type { ChangeEvent, ComponentType } from 'react';
import type { Fields, System, TaggedOperations } from 'swagger-ui-dist/swagger-ui-bundle.js';

interface InfoProps {
  specSelectors: { info: () => Fields };
  getComponent: (name: string, isContainer: boolean) => ComponentType<{ source: unknown }>;
}

interface FilterProps {
  layoutSelectors: { currentFilter: () => string | boolean };
  layoutActions: { updateFilter: (filter: string) => void };
}

/** The fields that the filter searches, besides the name of the group. */
const WORDS = [['path'], ['method'], ['operation', 'operationId'], ['operation', 'summary']];

/** Keeps the operations that contain all words of the filter. */
export function opsFilter(tags: TaggedOperations, phrase: string): TaggedOperations {
  const words = phrase.toLowerCase().split(/\s+/);
  const has = (tag: string, operation: Fields): boolean => {
    const text = [tag, ...WORDS.map((path) => operation.getIn(path))].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return tags
    .map((tag, name) =>
      tag.set(
        'operations',
        tag.get('operations').filter((operation) => has(name, operation)),
      ),
    )
    .filter((tag) => tag.get('operations').size > 0);
}

/** A plugin that replaces parts of Swagger UI. */
export function ourParts({ React: { createElement: h } }: System): object {
  /** Folds the general text, so that the operations come first. */
  const InfoContainer = ({ specSelectors, getComponent }: InfoProps) =>
    h(
      'section',
      { className: 'about', 'aria-label': 'About the API' },
      h('h1', null, 'API reference ', h('code', null, String(specSelectors.info().get('version')))),
      h(
        'details',
        null,
        h('summary', null, h('h2', null, 'Conventions and errors')),
        h(getComponent('Markdown', true), { source: specSelectors.info().get('description') }),
      ),
    );

  const FilterContainer = ({ layoutSelectors, layoutActions }: FilterProps) => {
    const filter = layoutSelectors.currentFilter();
    return h(
      'search',
      { className: 'filter' },
      h('input', {
        type: 'search',
        placeholder: 'Filter by path, name or summary',
        'aria-label': 'Filter',
        value: typeof filter === 'string' ? filter : '',
        onChange: ({ target }: ChangeEvent<HTMLInputElement>) =>
          layoutActions.updateFilter(target.value),
      }),
    );
  };

  return {
    fn: { opsFilter },
    components: {
      FilterContainer,
      // A link would be inside a button. The address links to the open operation instead.
      DeepLink: ({ text }: { text: unknown }) => h('span', null, text as string),
    },
    // Swagger UI itself wraps it, for OpenAPI 3.1.
    wrapComponents: { InfoContainer: () => InfoContainer },
    statePlugins: {
      layout: {
        // Swagger UI's scrolling would hide an operation behind the filter.
        wrapActions: { scrollToElement: () => (element: Element) => element.scrollIntoView() },
      },
    },
  };
}
