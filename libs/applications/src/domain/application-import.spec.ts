import { describe, expect, it } from 'vitest';
import { readImport } from './application-import.js';

const record = { userId: 7, name: 'Old', voiceUrl: 'http://voice.example/' };

function faultsOf(records: unknown): (string | undefined)[][] {
  return readImport(records).faults.map(({ field, code }) => [field, code]);
}

describe('readImport', () => {
  it('reads an application in the form of the API', () => {
    const shown = {
      href: 'http://old/v1/applications/12',
      id: '12',
      name: ' Old ',
      platform: 'WebAPI',
      apiType: 'webapi',
      voiceUrl: 'http://voice.example/',
      messagingUrl: 'http://messages.example/',
      environment: 'http://old/v1/environments/2',
      userId: 7,
      user: 'http://old/v1/users/7',
      partition: 'Production',
      createdAt: '2009-01-01T00:00:00.000Z',
    };
    expect(readImport([shown])).toEqual({
      faults: [],
      applications: [
        {
          id: '12',
          userId: '7',
          name: 'Old',
          apiType: 'webapi',
          voiceUrl: 'http://voice.example/',
          messagingUrl: 'http://messages.example/',
          environmentId: '2',
          partition: 'Production',
        },
      ],
    });
  });

  it('sets no id, environment or partition unless they are given', () => {
    expect(readImport([{ ...record, environment: null, id: null }]).applications).toEqual([
      {
        userId: '7',
        name: 'Old',
        apiType: 'scripting',
        voiceUrl: 'http://voice.example/',
        environmentId: null,
        partition: null,
      },
    ]);
  });

  it('refuses bidirectional controls in names and URLs', () => {
    const hidden = '\u202egpj.exe';
    const faults = ['name', 'partition', 'voiceUrl', 'messagingUrl'].map((name) => {
      const value = name.endsWith('Url') ? `https://a.example/${hidden}` : hidden;
      return faultsOf([{ ...record, [name]: value }]);
    });
    expect(faults).toEqual([
      [['/0/name', 'format']],
      [['/0/partition', 'format']],
      [['/0/voiceUrl', 'format']],
      [['/0/messagingUrl', 'format']],
    ]);
  });

  it('reports every fault with its JSON Pointer', () => {
    expect(
      faultsOf([
        record,
        'x',
        { ...record, name: '', voiceUrl: 'ftp://x', apiType: 'fax', environment: 'dev' },
        { ...record, id: '0', userId: 'seven', name: 5, partition: 'a\nb' },
        {},
        { ...record, platform: 'webapi', apiType: 'scripting', messagingUrl: '' },
      ]),
    ).toEqual([
      ['/1', 'type'],
      ['/2/name', 'length'],
      ['/2/voiceUrl', 'format'],
      ['/2/environment', 'format'],
      ['/2/apiType', 'choice'],
      ['/3/id', 'range'],
      ['/3/userId', 'type'],
      ['/3/partition', 'format'],
      ['/3/name', 'type'],
      ['/4/userId', 'required'],
      ['/4/name', 'required'],
      ['/4/voiceUrl', 'required'],
      ['/5/messagingUrl', 'length'],
      ['/5/platform', 'conflict'],
    ]);
  });

  it('refuses a duplicate id', () => {
    expect(faultsOf([{ ...record, id: 3 }, record, { ...record, id: '3' }])).toEqual([
      ['/2/id', 'conflict'],
    ]);
  });

  it('refuses anything but an array', () => {
    expect(faultsOf({ applications: [] })).toEqual([['', 'type']]);
  });
});
