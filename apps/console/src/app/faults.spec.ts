import { describe, expect, it } from 'vitest';
import { areAllShown, faultAt } from './faults.js';

const FAULTS = {
  name: 'name is required.',
  '/headers/X-A': 'It is empty.',
  '/headers/X-B': 'It is too long.',
  '/retry/timeoutMs': 'It is no number.',
};

describe('the fault of a field', () => {
  it('includes those of what is inside of it', () => {
    expect(faultAt(FAULTS, 'name')).toBe('name is required.');
    expect(faultAt(FAULTS, 'headers')).toBe('It is empty. It is too long.');
    expect(faultAt(FAULTS, 'retry/timeoutMs')).toBe('It is no number.');
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
    expect(areAllShown({ '': 'It is no object.' }, ['name'])).toBe(false);
  });
});
