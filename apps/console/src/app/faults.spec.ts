import { describe, expect, it } from 'vitest';
import { areAllShown, faultAt, inWords } from './faults.js';

const FAULTS = {
  name: 'name is required.',
  '/headers/X-A': 'It is empty.',
  '/headers/X-B': 'It is too long.',
  '/retry/timeoutMs': 'It is not a number.',
};

describe('the fault of a field', () => {
  it('includes the faults of nested fields', () => {
    expect(faultAt(FAULTS, 'name')).toBe('name is required.');
    expect(faultAt(FAULTS, 'headers')).toBe('It is empty. It is too long.');
    expect(faultAt(FAULTS, 'retry/timeoutMs')).toBe('It is not a number.');
    expect(faultAt(FAULTS, 'targetUrl')).toBeUndefined();
  });
});

describe('the faults of a form', () => {
  it('are all shown if each has an input', () => {
    expect(areAllShown(FAULTS, ['name', 'headers', 'retry'])).toBe(true);
    expect(areAllShown(FAULTS, ['name', 'headers'])).toBe(false);
  });

  it('are not shown if there are none, or one is about the whole body', () => {
    expect(areAllShown({}, ['name'])).toBe(false);
    expect(areAllShown({ '': 'It is not an object.' }, ['name'])).toBe(false);
  });
});

it('names fields as their labels do', () => {
  const labels = {
    name: 'Name',
    headers: 'Headers',
    'retry/schedule': 'Retries',
    filter: 'Filter',
    voiceUrl: 'Voice URL',
  };
  const faults = {
    name: 'name is required.',
    voiceUrl: 'voiceUrl or messagingUrl is required.',
    '/headers/X~1name': '/headers/X~1name must not be empty.',
    '/retry/schedule/1': '/retry/schedule/1 must be a whole number.',
    '/filter/call.type/equals': '/filter/call.type/equals is none of gt, not.',
    targetUrl: 'targetUrl is required.',
    event: 'The event is unknown to voiceUrl.',
  };
  expect(Object.values(inWords(faults, labels))).toEqual([
    'Name is required.',
    'Voice URL or messagingUrl is required.',
    'Headers (X/name) must not be empty.',
    'Retries (2) must be a whole number.',
    'Filter (call.type, equals) is none of gt, not.',
    'targetUrl is required.',
    'The event is unknown to Voice URL.',
  ]);
});
