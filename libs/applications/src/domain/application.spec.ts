import { describe, expect, it } from 'vitest';
import { Application, contentOf, missingUrlFaults } from './application.js';

function anApplication(columns: Partial<Application> = {}): Application {
  return Object.assign(new Application(), {
    id: '5',
    name: 'Switchboard',
    apiType: 'scripting',
    voiceUrl: 'http://voice.example/',
    messagingUrl: null,
    environmentId: '1',
    ...columns,
  });
}

describe('Application.revisedBy', () => {
  it('returns only the fields whose values change', () => {
    const changes = { name: 'Exchange', voiceUrl: 'http://voice.example/', environmentId: '1' };
    expect(anApplication().revisedBy(changes)).toEqual({ name: 'Exchange' });
  });

  it('returns nothing for no changes and for the same values', () => {
    expect(anApplication().revisedBy({})).toEqual({});
    const same = {
      name: 'Switchboard',
      voiceUrl: 'http://voice.example/',
      messagingUrl: null,
      apiType: 'scripting',
      platform: 'scripting',
      environmentId: '1',
    } as const;
    expect(anApplication().revisedBy(same)).toEqual({});
  });

  it('clears a URL with null', () => {
    expect(anApplication().revisedBy({ voiceUrl: null })).toEqual({ voiceUrl: null });
  });

  it.each([
    { apiType: 'webapi' },
    { platform: 'webapi' },
    { apiType: 'webapi', platform: 'webapi' },
    { apiType: 'scripting', platform: 'webapi' },
    { apiType: 'webapi', platform: 'scripting' },
  ] as const)('uses the type that differs from the stored one: %j', (types) => {
    expect(anApplication().revisedBy(types)).toEqual({ apiType: 'webapi' });
  });

  it('compares URLs character for character', () => {
    expect(anApplication().revisedBy({ voiceUrl: 'http://VOICE.example/' })).toEqual({
      voiceUrl: 'http://VOICE.example/',
    });
  });
});

describe('contentOf', () => {
  it('uses scripting and the development environment by default', () => {
    expect(contentOf({ name: 'a', messagingUrl: 'http://m/' })).toEqual({
      name: 'a',
      apiType: 'scripting',
      voiceUrl: null,
      messagingUrl: 'http://m/',
      environmentId: '1',
    });
  });
});

describe('missingUrlFaults', () => {
  it('finds no fault if one URL is left', () => {
    expect(missingUrlFaults(anApplication(), {})).toEqual([]);
    expect(
      missingUrlFaults(anApplication(), { messagingUrl: 'http://m/', voiceUrl: null }),
    ).toEqual([]);
  });

  it('finds a fault if no URL is left', () => {
    expect(missingUrlFaults(anApplication(), { voiceUrl: null })).toEqual([
      { field: 'voiceUrl', code: 'required', message: 'voiceUrl or messagingUrl is required.' },
    ]);
  });
});
