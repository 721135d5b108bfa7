import type { Schemas } from '../../app/api.js';

/** The values of an application's form. */
export type ApplicationValues = Record<keyof typeof APPLICATION_LABELS, string>;

export const APPLICATION_LABELS = {
  name: 'Name',
  voiceUrl: 'Voice URL',
  messagingUrl: 'Messaging URL',
  apiType: 'API type',
  environment: 'Environment',
} as const;

export const NEW_APPLICATION: ApplicationValues = {
  name: '',
  voiceUrl: '',
  messagingUrl: '',
  apiType: 'scripting',
  environment: '',
};

export function applicationValues(application: Schemas['Application']): ApplicationValues {
  const { name, voiceUrl = '', messagingUrl = '', apiType, environment = '' } = application;
  return {
    name,
    voiceUrl,
    messagingUrl,
    apiType,
    environment: environment.slice(environment.lastIndexOf('/') + 1),
  };
}

/** What a change to an empty value clears. */
const CLEARABLE: readonly string[] = ['voiceUrl', 'messagingUrl'];

/** The body of a request that creates an application, or changes one with these values. */
export function changesOf(
  values: ApplicationValues,
  base?: ApplicationValues,
): Schemas['UpdateApplication'] {
  const entries = Object.entries(values).flatMap(([name, value]): [string, string | null][] => {
    if (value === (base?.[name as keyof ApplicationValues] ?? '')) return [];
    return [[name, value === '' && CLEARABLE.includes(name) ? null : value]];
  });
  return Object.fromEntries(entries);
}
