import {
  BIDI_RULE,
  type FieldCode,
  type FieldFault,
  hasBidiControl,
  hasLength,
  isHttpUrl,
  isPrintable,
  MAX_URL,
  numericIdOf,
} from '#libs/kernel';
import {
  type ApiType,
  apiTypeOf,
  DEFAULT_API_TYPE,
  environmentIdOf,
  MAX_NAME,
} from './application.js';
import type { ImportedApplication } from './applications.repository.js';

const MAX_PARTITION = 255;

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
  records.forEach((record: unknown, index) => {
    if (typeof record !== 'object' || record === null || Array.isArray(record)) {
      faults.push(faultAt(index, '', 'type', 'must be a JSON object'));
      return;
    }
    const reader = new RecordReader(record as Record<string, unknown>, index);
    const application = reader.application();
    applications.push(application);
    faults.push(...reader.faults);
    if (application.id === undefined) return;
    const earlier = places.get(application.id);
    if (earlier === undefined) places.set(application.id, index);
    else faults.push(faultAt(index, 'id', 'conflict', `is already used by /${earlier}`));
  });
  return { applications, faults };
}

/** A fault of a record, located by a JSON Pointer (RFC 6901). */
export function faultAt(index: number, name: string, code: FieldCode, says: string): FieldFault {
  const field = name === '' ? `/${index}` : `/${index}/${name}`;
  return { field, code, message: `${name === '' ? 'An application' : name} ${says}.` };
}

class RecordReader {
  readonly faults: FieldFault[] = [];

  constructor(
    private readonly members: Record<string, unknown>,
    private readonly index: number,
  ) {}

  application(): ImportedApplication {
    const id = this.id();
    const application = {
      ...(id !== undefined && { id }),
      userId: this.userId(),
      name: this.required('name') ? (this.label('name', MAX_NAME) ?? '') : '',
      apiType: this.apiType(),
      voiceUrl: this.url('voiceUrl'),
      messagingUrl: this.url('messagingUrl'),
      environmentId: this.environmentId(),
      partition: this.label('partition', MAX_PARTITION),
    };
    if (!this.has('voiceUrl') && !this.has('messagingUrl')) {
      this.fault('voiceUrl', 'required', 'or messagingUrl is required');
    }
    return application;
  }

  private id(): string | undefined {
    if (!this.has('id')) return undefined;
    const id = numericIdOf(this.members['id']);
    // New ids continue from the highest one, so some must be left.
    if (id !== undefined && id !== '0' && Number(id) <= Number.MAX_SAFE_INTEGER) return id;
    this.fault('id', 'range', `must be a number from 1 to ${Number.MAX_SAFE_INTEGER}`);
    return undefined;
  }

  private userId(): string {
    if (!this.required('userId')) return '';
    const id = numericIdOf(this.members['userId']);
    if (id === undefined) this.fault('userId', 'type', 'must be the number of an account');
    return id ?? '';
  }

  private label(name: string, max: number): string | null {
    const text = this.text(name)?.trim();
    if (text === undefined) return null;
    if (!hasLength(text, max)) this.fault(name, 'length', `must have 1 to ${max} characters`);
    else if (!isPrintable(text)) this.fault(name, 'format', 'must not contain control characters');
    else if (hasBidiControl(text)) this.fault(name, 'format', BIDI_RULE);
    return text;
  }

  private url(name: string): string | null {
    const url = this.text(name);
    if (url === undefined) return null;
    if (!hasLength(url, MAX_URL))
      this.fault(name, 'length', `must have 1 to ${MAX_URL} characters`);
    else if (!isHttpUrl(url))
      this.fault(
        name,
        'format',
        'must be an absolute http or https URL with a valid host and port, and without blanks',
      );
    else if (hasBidiControl(url)) this.fault(name, 'format', BIDI_RULE);
    return url;
  }

  private apiType(): ApiType {
    const types = ['apiType', 'platform'].flatMap((name) => {
      const text = this.text(name);
      if (text === undefined) return [];
      const type = apiTypeOf(text);
      if (type === undefined) this.fault(name, 'choice', 'must be scripting or webapi');
      return type === undefined ? [] : [type];
    });
    const [first, second] = types;
    if (second !== undefined && second !== first) {
      this.fault('platform', 'conflict', 'must equal apiType');
    }
    return first ?? DEFAULT_API_TYPE;
  }

  private environmentId(): string | null {
    if (!this.has('environment')) return null;
    const id = environmentIdOf(this.members['environment']);
    if (id === undefined) {
      this.fault('environment', 'format', 'must be the address or the id of an environment');
    }
    return id ?? null;
  }

  private text(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.members[name];
    if (typeof value === 'string') return value;
    this.fault(name, 'type', 'must be a string');
    return undefined;
  }

  private has(name: string): boolean {
    return Object.hasOwn(this.members, name) && this.members[name] !== null;
  }

  private required(name: string): boolean {
    if (!this.has(name)) this.fault(name, 'required', 'is required');
    return this.has(name);
  }

  private fault(name: string, code: FieldCode, says: string): void {
    this.faults.push(faultAt(this.index, name, code, says));
  }
}
