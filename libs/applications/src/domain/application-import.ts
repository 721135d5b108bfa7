import {
  type FieldFault,
  httpUrl,
  importedId,
  ImportRecord,
  isObject,
  label,
  numericIdOf,
  validatorOf,
} from '#libs/kernel';
import {
  type ApiType,
  apiTypeOf,
  apiTypeValidator,
  DEFAULT_API_TYPE,
  environmentIdOf,
  environmentReference,
  nameValidator,
} from './application.js';
import type { ImportedApplication } from './applications.repository.js';

const PARTITION = label(255);
const URL = httpUrl();
const ACCOUNT = validatorOf<string | number>({}, (value) =>
  numericIdOf(value) === undefined
    ? [{ code: 'type', says: 'must be the number of an account' }]
    : [],
);

/** The content of a file of applications. It may be used only if `faults` is empty. */
interface ReadImport {
  applications: ImportedApplication[];
  faults: FieldFault[];
}

/**
 * Reads applications in the form of the API's answers; `userId` names the account. Members that are null
 * count as absent, and unknown members are ignored. Faults contain a JSON Pointer.
 */
export function readImport(records: unknown): ReadImport {
  if (!Array.isArray(records)) {
    const message = 'The file must hold a JSON array of applications.';
    return { applications: [], faults: [{ field: '', code: 'type', message }] };
  }
  const faults: FieldFault[] = [];
  const applications: ImportedApplication[] = [];
  const places = new Map<string, number>();
  for (const [index, value] of (records as unknown[]).entries()) {
    if (!isObject(value)) {
      const message = 'An application must be a JSON object.';
      faults.push({ field: `/${index}`, code: 'type', message });
      continue;
    }
    const record = new ImportRecord(value, index);
    const application = applicationIn(record);
    const { id } = application;
    const earlier = id === undefined ? undefined : places.get(id);
    if (earlier !== undefined) record.fault('id', 'conflict', `is already used by /${earlier}`);
    else if (id !== undefined) places.set(id, index);
    applications.push(application);
    faults.push(...record.faults);
  }
  return { applications, faults };
}

function applicationIn(record: ImportRecord): ImportedApplication {
  const id = numericIdOf(record.optional('id', importedId));
  const application = {
    ...(id !== undefined && id !== '0' && { id }),
    userId: numericIdOf(record.required('userId', ACCOUNT)) ?? '',
    name: record.required('name', nameValidator, true) ?? '',
    apiType: apiTypeIn(record),
    voiceUrl: record.optional('voiceUrl', URL) ?? null,
    messagingUrl: record.optional('messagingUrl', URL) ?? null,
    environmentId: environmentIdOf(record.optional('environment', environmentReference)) ?? null,
    partition: record.optional('partition', PARTITION, true) ?? null,
  };
  if (!record.has('voiceUrl') && !record.has('messagingUrl')) {
    record.fault('voiceUrl', 'required', 'or messagingUrl is required');
  }
  return application;
}

function apiTypeIn(record: ImportRecord): ApiType {
  const [first, second] = ['apiType', 'platform'].flatMap(
    (name) => apiTypeOf(record.optional(name, apiTypeValidator)) ?? [],
  );
  if (second !== undefined && second !== first) {
    record.fault('platform', 'conflict', 'must equal apiType');
  }
  return first ?? DEFAULT_API_TYPE;
}
