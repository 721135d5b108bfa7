import {
  Field,
  type FieldFault,
  httpUrl,
  INTEGER_TOO,
  isStorable,
  isStringOrNumber,
  label,
  type Problem,
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
const environmentReference = typed('must be a number or a string', isStringOrNumber, {
  type: 'string',
}).and(
  'format',
  'must be the address or the id of an environment',
  (value) => environmentIdOf(value) !== undefined,
  { description: INTEGER_TOO, pattern: '^(?:[0-9]+|\\S*/v1/environments/[0-9]+/?)$' },
);

/** A type in a request, in any case. */
const API_TYPE = wordOf(API_TYPES);

const TYPES_DIFFER: Problem = { code: 'conflict', says: 'must equal apiType when both are given' };

/** The members that a client can write, in requests and in imported files. */
export class ApplicationFields {
  @Field(label(255), {
    required: true,
    trim: true,
    about: "The application's name, which need not be unique.",
    example: 'Shop',
  })
  name?: string;

  @Field(httpUrl(), {
    requiredUnless: 'messagingUrl',
    clearsTo: null,
    about: "The URL that handles the application's voice calls.",
    example: 'https://shop.example.com/voice',
  })
  voiceUrl?: string | null;

  @Field(httpUrl(), {
    clearsTo: null,
    about: "The URL that handles the application's messages (SMS).",
    example: 'https://shop.example.com/sms',
  })
  messagingUrl?: string | null;

  @Field(environmentReference, {
    name: 'environment',
    read: environmentIdOf,
    about: 'The environment that the application runs in; by default, development.',
    example: 'https://api.example.com/v1/environments/2',
  })
  environmentId?: string;

  @Field(API_TYPE, {
    read: apiTypeOf,
    about: `The kind of API that controls the application. By default ${DEFAULT_API_TYPE}.`,
    example: 'webapi',
  })
  apiType?: ApiType;

  @Field(
    API_TYPE,
    {
      read: apiTypeOf,
      about: 'Another name for `apiType`.',
      aboutNew: 'It must equal `apiType` when both are given.',
      aboutChange: 'If both are given, the one that differs from the stored value counts.',
      example: 'webapi',
    },
    (platform, { isNew, read: { apiType: type = apiTypeOf(platform) } }) =>
      isNew && apiTypeOf(platform) !== type ? TYPES_DIFFER : undefined,
  )
  platform?: ApiType;
}

/** The columns of these members. */
export type ApplicationContent = Pick<Application, Exclude<keyof ApplicationFields, 'platform'>>;

/** The columns of a new application. Those that are absent are null. */
export type NewContent = Partial<ApplicationContent> & Pick<ApplicationContent, 'name' | 'apiType'>;

/** `apiType` and `platform` are one field. */
export type NewApplication = ApplicationFields & { name: string };

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

  /**
   * The fields whose values would change; empty if nothing would. Null clears one. Of `apiType` and `platform`, the one
   * that differs from the stored value counts.
   */
  revisedBy(changes: ApplicationFields): Partial<ApplicationContent> {
    const { apiType, platform, ...others } = changes;
    const type = [apiType, platform].find((one) => one !== undefined && one !== this.apiType);
    const given = { ...others, ...(type && { apiType: type }) };
    const revision = Object.entries(given).filter(
      ([field, value]) => value !== this[field as keyof ApplicationContent],
    );
    return Object.fromEntries(revision);
  }
}

/** The content of a new application, with defaults. */
export function contentOf({ platform, ...fields }: NewApplication): NewContent {
  const { apiType = platform ?? DEFAULT_API_TYPE } = fields;
  return { environmentId: DEVELOPMENT_ENVIRONMENT, ...fields, apiType };
}

type Urls = Pick<ApplicationFields, 'voiceUrl' | 'messagingUrl'>;

/** Specification, 2.1, rule 1: every application has a URL, also after an update. */
export function missingUrlFaults(stored: Urls, revision: Urls = {}): FieldFault[] {
  const { voiceUrl, messagingUrl } = { ...stored, ...revision };
  if ((voiceUrl ?? messagingUrl ?? null) !== null) return [];
  return [
    { field: 'voiceUrl', code: 'required', message: 'voiceUrl or messagingUrl is required.' },
  ];
}
