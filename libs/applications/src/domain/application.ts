import {
  type FieldFault,
  INTEGER_TOO,
  isStorable,
  isStringOrNumber,
  label,
  typed,
  wordOf,
} from '#libs/kernel';

/** The kind of API that controls an application. */
export const API_TYPES = ['scripting', 'webapi'] as const;
export type ApiType = (typeof API_TYPES)[number];

export const DEFAULT_API_TYPE: ApiType = 'scripting';

/** The type that a text names, in any case; undefined for anything else. */
export function apiTypeOf(value: unknown): ApiType | undefined {
  return API_TYPES.find((type) => typeof value === 'string' && type === value.toLowerCase());
}

/** A type in a request, in any case. */
export const apiTypeValidator = wordOf(API_TYPES);

/** The fields that a client can write. */
export type ApplicationContent = Pick<
  Application,
  'name' | 'apiType' | 'voiceUrl' | 'messagingUrl' | 'environmentId'
>;
type Given = { [Field in keyof ApplicationContent]?: ApplicationContent[Field] | undefined };

/** The content of a new application; `contentOf` adds the defaults. */
export type NewApplication = Given & Pick<ApplicationContent, 'name'>;

/**
 * The changes of an update. Undefined keeps a value; null clears it. `apiType` and `platform` are one field: the one
 * that differs from the stored value counts.
 */
export type ApplicationChanges = Given & { platform?: ApiType | undefined };

/** A name in a request. */
export const nameValidator = label(255);

/** Exists on every installation, and is not billed. */
const DEVELOPMENT_ENVIRONMENT = '1';

/** Part of an account's configuration: the URLs that drive its calls and messages (specification, 2.1). */
export class Application {
  /** A string of digits; set when it is stored. */
  id!: string;
  userId!: string;
  name!: string;
  apiType!: ApiType;
  voiceUrl!: string | null;
  messagingUrl!: string | null;
  /** Null only for an imported application, until an environment is set. */
  environmentId!: string | null;
  /** Only for imported applications from before environments existed. */
  partition!: string | null;
  /** Incremented when a field that a client can write changes. */
  version!: number;
  createdAt!: Date;
  updatedAt!: Date;
  /** The row of a deleted application stays, so that late events still find its account. */
  deletedAt!: Date | null;

  /** The fields whose values would change; empty if nothing would. */
  revisedBy(changes: ApplicationChanges): Partial<ApplicationContent> {
    const { apiType, platform, ...others } = changes;
    const given: Given = {
      ...others,
      apiType: [apiType, platform].find((type) => type !== undefined && type !== this.apiType),
    };
    const revision = Object.entries(given).filter(
      ([field, value]) => value !== undefined && value !== this[field as keyof ApplicationContent],
    );
    return Object.fromEntries(revision);
  }
}

/** The columns of a new application, with defaults. */
export function contentOf(application: NewApplication): ApplicationContent {
  return {
    name: application.name,
    apiType: application.apiType ?? DEFAULT_API_TYPE,
    voiceUrl: application.voiceUrl ?? null,
    messagingUrl: application.messagingUrl ?? null,
    environmentId: application.environmentId ?? DEVELOPMENT_ENVIRONMENT,
  };
}

type Urls = Pick<ApplicationContent, 'voiceUrl' | 'messagingUrl'>;

/** Specification, 2.1, rule 1: every application has a URL, also after an update. */
export function missingUrlFaults(urls: Urls, revision: Partial<Urls> = {}): FieldFault[] {
  const { voiceUrl = urls.voiceUrl, messagingUrl = urls.messagingUrl } = revision;
  if (voiceUrl !== null || messagingUrl !== null) return [];
  return [
    { field: 'voiceUrl', code: 'required', message: 'voiceUrl or messagingUrl is required.' },
  ];
}

/** A path, or a URL with scheme and host; a trailing slash is ignored. */
const ADDRESS =
  /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/\s?#]+)?(?:\/[^\s?#]*)?\/v1\/environments\/(\d+)\/?$/;
const NUMBER = /^\d+$/;

/**
 * The id in a reference to an environment: a number, or an absolute URL or path that ends in
 * `/v1/environments/<id>`, with any host and prefix. Undefined for any other text.
 */
export function environmentIdOf(reference: unknown): string | undefined {
  if (typeof reference === 'number') {
    // Beyond 2^53, parsing has lost digits.
    return Number.isSafeInteger(reference) && reference >= 0 ? String(reference) : undefined;
  }
  if (typeof reference !== 'string' || !isStorable(reference)) return undefined;
  return NUMBER.test(reference) ? reference : ADDRESS.exec(reference)?.[1];
}

/** A reference to an environment in a request. */
export const environmentReference = typed('must be a number or a string', isStringOrNumber, {
  type: 'string',
}).and(
  'format',
  'must be the address or the id of an environment',
  (value) => environmentIdOf(value) !== undefined,
  { description: INTEGER_TOO, pattern: '^(?:[0-9]+|\\S*/v1/environments/[0-9]+/?)$' },
);
