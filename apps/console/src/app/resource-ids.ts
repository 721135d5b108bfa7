const isUuid = (text: string): boolean =>
  /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text);
const isNumber = (text: string): boolean => /^[1-9]\d{0,18}$/.test(text);

/** What people paste ids of, by the API's name of the collection. */
const RESOURCES = {
  deliveries: { name: 'delivery', isId: isUuid },
  events: { name: 'event', isId: isUuid },
  webhooks: { name: 'subscription', isId: isNumber },
  applications: { name: 'application', isId: isNumber },
  users: { name: 'account', isId: isNumber },
} as const;

export type Resource = keyof typeof RESOURCES;

/** A page, and what it shows one of. */
export interface PageOfResource {
  /** With `:id` where the id is. */
  path: string;
  shows?: Resource;
}

/** The end of an address of the API, as in `href`: a collection and an id. */
const ADDRESS = /\/v1\/(?:[^\s/]+\/[^\s/]+\/)*([a-z]+)\/([\w-]+)\/?$/;

/**
 * The pages of whatever may have a pasted id. An address of the API also says what has it.
 * @param pages those that the user has
 */
export function pagesOfId(
  pasted: string,
  pages: readonly PageOfResource[],
): { name: string; path: string }[] {
  const text = pasted.trim();
  const [, collection, idInAddress] = ADDRESS.exec(text) ?? [];
  const id = (idInAddress ?? text).toLowerCase();
  return pages.flatMap(({ path, shows }) => {
    if (shows === undefined || !RESOURCES[shows].isId(id)) return [];
    if (collection !== undefined && collection !== shows) return [];
    return [{ name: `Open this ${RESOURCES[shows].name}`, path: path.replace(':id', id) }];
  });
}
