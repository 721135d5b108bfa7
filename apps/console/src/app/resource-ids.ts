export const isUuid = (text: string): boolean =>
  /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text);
const isNumber = (text: string): boolean => /^[1-9]\d{0,18}$/.test(text);

/** Resources that users paste ids of, by the API's name of the collection. */
const RESOURCES = {
  deliveries: { name: 'delivery', isId: isUuid },
  events: { name: 'event', isId: isUuid },
  webhooks: { name: 'subscription', isId: isNumber },
  applications: { name: 'application', isId: isNumber },
  users: { name: 'account', isId: isNumber },
} as const;

export type Resource = keyof typeof RESOURCES;

/** A page, and the type of resource that it shows. */
export interface PageOfResource {
  /** With `:id` in place of the id. */
  path: string;
  shows?: Resource;
}

/** The end of an API address, such as an `href`: a collection and an id. */
const ADDRESS = /\/v1\/(?:[^\s/]+\/[^\s/]+\/)*([a-z]+)\/([\w-]+)\/?$/;

/**
 * The pages of every resource that may have a pasted id. An API address also names the type of resource.
 * @param pages that the user has
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
