import type { FieldFault } from '#libs/kernel';
import { type ApiType, DEFAULT_API_TYPE } from './api-type.js';

/** What a new application is made of; the rules of the fields are those of application-fields. */
export interface NewApplication {
  name: string;
  voiceUrl?: string | undefined;
  messagingUrl?: string | undefined;
  apiType?: ApiType | undefined;
  /** The development environment when absent. */
  environmentId?: string | undefined;
}

/** What an update says. What is undefined stays; null clears. */
export interface ApplicationChanges {
  name?: string | undefined;
  voiceUrl?: string | null | undefined;
  messagingUrl?: string | null | undefined;
  /** Two names of one field: the one that differs from the stored value counts. */
  apiType?: ApiType | undefined;
  platform?: ApiType | undefined;
  environmentId?: string | undefined;
}

/** The fields that a client can write. */
export type ApplicationContent = Pick<
  Application,
  'name' | 'apiType' | 'voiceUrl' | 'messagingUrl' | 'environmentId'
>;

/** The longest name, in characters. */
export const MAX_NAME = 255;

/** There is one on every installation, and it costs nobody anything. */
export const DEVELOPMENT_ENVIRONMENT = '1';

/** Configuration of an account: which URLs drive its calls and its messages (specification, 2.1). */
export class Application {
  /** A string of digits; set when it is stored. */
  id!: string;
  userId!: string;
  name!: string;
  apiType!: ApiType;
  voiceUrl!: string | null;
  messagingUrl!: string | null;
  /** Null only for an imported one, until an environment is set. */
  environmentId!: string | null;
  /** Only on imported ones from before environments existed. */
  partition!: string | null;
  /** Raised whenever a field that a client can write changes. */
  version!: number;
  createdAt!: Date;
  updatedAt!: Date;
  /** A deleted application's row stays: its id keeps naming its account for late events. */
  deletedAt!: Date | null;

  /** The fields that the changes would give another value; empty when they change nothing. */
  revisedBy(changes: ApplicationChanges): Partial<ApplicationContent> {
    const { apiType, platform, ...others } = changes;
    const given: Partial<Record<keyof ApplicationContent, string | null | undefined>> = {
      ...others,
      apiType: [apiType, platform].find((type) => type !== undefined && type !== this.apiType),
    };
    const revision = Object.entries(given).filter(
      ([field, value]) => value !== undefined && value !== this[field as keyof ApplicationContent],
    );
    return Object.fromEntries(revision);
  }
}

/** The columns of a new application, defaults filled in. */
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

/** Specification, 2.1, rule 1: every application has a URL, after a revision, too. */
export function missingUrlFaults(urls: Urls, revision: Partial<Urls> = {}): FieldFault[] {
  const { voiceUrl = urls.voiceUrl, messagingUrl = urls.messagingUrl } = revision;
  if (voiceUrl !== null || messagingUrl !== null) return [];
  return [
    { field: 'voiceUrl', code: 'required', message: 'voiceUrl or messagingUrl is required.' },
  ];
}
