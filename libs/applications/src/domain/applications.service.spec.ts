import { beforeEach, describe, expect, it } from 'vitest';
import { NotFoundError, PreconditionFailedError, ValidationError } from '#libs/kernel';
import { applicationsOnFakes } from './applications.fake.js';

const ACCOUNT = '1';
const anyVersion = (): void => undefined;
const wrongVersion = (): void => {
  throw new PreconditionFailedError();
};
const minimal = { name: 'Switchboard', voiceUrl: 'http://voice.example/' };

let fakes: ReturnType<typeof applicationsOnFakes>;
let applications: (typeof fakes)['applications'];

beforeEach(() => {
  fakes = applicationsOnFakes();
  ({ applications } = fakes);
});

const anApplication = (fields = {}) => applications.create(ACCOUNT, { ...minimal, ...fields });
/** What was recorded since the creation of the first application. */
const recorded = () => fakes.audit.entries.slice(1);

/** The fields and codes of a refusal. */
async function faultsOf(work: Promise<unknown>): Promise<string[]> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof ValidationError)) throw new Error('no ValidationError was thrown');
  return error.faults.map(({ field, code }) => `${field} ${code}`);
}

describe('a new application', () => {
  it('gets the defaults, and is recorded', async () => {
    const id = await anApplication();
    expect(await applications.get(ACCOUNT, id)).toMatchObject({
      ...minimal,
      messagingUrl: null,
      apiType: 'scripting',
      environmentId: '1',
    });
    expect(fakes.audit.entries).toEqual([
      { action: 'application.create', resourceId: id, accountId: ACCOUNT },
    ]);
  });

  it('is refused with every fault that its fields alone do not show', async () => {
    const faulty = applications.create(ACCOUNT, { name: 'x', environmentId: '3' });
    expect(await faultsOf(faulty)).toEqual(['voiceUrl required', 'environment unknown_reference']);
    expect([fakes.repository.all, fakes.audit.entries]).toEqual([[], []]);
  });
});

describe("another account's application", () => {
  it('does not exist, whatever is done with it', async () => {
    const id = await anApplication();
    for (const [account, one] of [
      ['2', id],
      [ACCOUNT, '2'],
      [ACCOUNT, 'x'],
      [ACCOUNT, '01'],
    ]) {
      for (const work of [
        applications.get(account!, one!),
        applications.getLocked(account!, one!),
        applications.update(account!, one!, { name: 'y' }, wrongVersion),
        applications.delete(account!, one!, wrongVersion),
      ]) {
        await expect(work).rejects.toThrow(NotFoundError);
      }
    }
    expect(await applications.list('2', { limit: 10 })).toEqual([]);
    expect(recorded()).toEqual([]);
  });
});

describe('an update', () => {
  it('locks the application, and records the fields that changed', async () => {
    const id = await anApplication();
    const changes = { name: 'Exchange', voiceUrl: minimal.voiceUrl, environmentId: '2' };
    await applications.update(ACCOUNT, id, changes, anyVersion);
    expect(fakes.repository.locked).toEqual([id]);
    expect(await applications.get(ACCOUNT, id)).toMatchObject({ ...changes, version: 2 });
    const fields = ['name', 'environment'];
    expect(recorded()).toEqual([
      { action: 'application.update', resourceId: id, accountId: ACCOUNT, fields },
    ]);
  });

  it('writes and records nothing if no value changes', async () => {
    const id = await anApplication();
    await applications.update(ACCOUNT, id, { ...minimal, apiType: 'scripting' }, anyVersion);
    expect(await applications.get(ACCOUNT, id)).toMatchObject({ version: 1 });
    expect(recorded()).toEqual([]);
  });

  it('is refused for another version, before its values are judged', async () => {
    const id = await anApplication();
    const update = applications.update(ACCOUNT, id, { voiceUrl: null }, wrongVersion);
    await expect(update).rejects.toThrow(PreconditionFailedError);
  });

  it('is refused if it leaves no URL, or names an unknown environment', async () => {
    const id = await anApplication();
    const changes = { voiceUrl: null, environmentId: '3' };
    expect(await faultsOf(applications.update(ACCOUNT, id, changes, anyVersion))).toEqual([
      'voiceUrl required',
      'environment unknown_reference',
    ]);
    const other = { voiceUrl: null, messagingUrl: 'http://messages.example/' };
    await applications.update(ACCOUNT, id, other, anyVersion);
    expect(await applications.get(ACCOUNT, id)).toMatchObject(other);
  });
});

describe('a deletion', () => {
  it('is announced in its transaction, and recorded', async () => {
    const id = await anApplication();
    const announced: [string, boolean][] = [];
    fakes.deletions.subscribe((deleted) => {
      announced.push([deleted, fakes.transactions.underWay]);
      return Promise.resolve();
    });
    await applications.delete(ACCOUNT, id, anyVersion);
    expect(announced).toEqual([[id, true]]);
    expect(recorded()).toEqual([
      { action: 'application.delete', resourceId: id, accountId: ACCOUNT },
    ]);
    await expect(applications.get(ACCOUNT, id)).rejects.toThrow(NotFoundError);
  });

  it('is refused for another version', async () => {
    const id = await anApplication();
    const deletion = applications.delete(ACCOUNT, id, wrongVersion);
    await expect(deletion).rejects.toThrow(PreconditionFailedError);
    expect(await applications.get(ACCOUNT, id)).toMatchObject({ id });
  });
});

describe('an import', () => {
  const record = { ...minimal, userId: ACCOUNT };
  beforeEach(() => {
    fakes.imports.accounts.add(ACCOUNT);
  });

  it('records each application for its account', async () => {
    fakes.imports.accounts.add('2');
    expect(await applications.import([record, { ...record, userId: 2, id: 7 }])).toBe(2);
    expect(fakes.imports.hasBegun).toBe(true);
    expect(fakes.audit.entries).toEqual([
      { action: 'application.import', resourceId: '7', accountId: '2' },
      { action: 'application.import', resourceId: '8', accountId: ACCOUNT },
    ]);
  });

  it('is refused with every unknown reference and taken id, and stores nothing', async () => {
    const taken = await anApplication();
    const records = [
      record,
      { ...record, id: taken },
      { ...record, userId: '3', environment: 3 },
      { ...record, environment: 2 },
    ];
    expect(await faultsOf(applications.import(records))).toEqual([
      '/1/id conflict',
      '/2/userId unknown_reference',
      '/2/environment unknown_reference',
    ]);
    expect(recorded()).toEqual([]);
  });

  it('is refused before the store is asked when a record is faulty in itself', async () => {
    expect(await faultsOf(applications.import([{ userId: '3' }]))).toEqual([
      '/0/name required',
      '/0/voiceUrl required',
    ]);
    expect(fakes.imports.hasBegun).toBe(false);
  });
});
