import { describe, expect, it } from 'vitest';
import { applicationValues, changesOf, NEW_APPLICATION } from './application-values.js';

const STORED = { ...NEW_APPLICATION, name: 'Shop', voiceUrl: 'https://shop.example.com/voice' };

describe('the form of an application', () => {
  it('holds the id of the environment', () => {
    const environment = 'https://api.example.com/v1/environments/2';
    const application = { name: 'Shop', apiType: 'webapi', environment };
    expect(applicationValues(application as never)).toEqual({
      ...{ name: 'Shop', apiType: 'webapi', environment: '2' },
      ...{ voiceUrl: '', messagingUrl: '' },
    });
  });

  it('sends only filled fields to create one', () => {
    expect(changesOf(NEW_APPLICATION)).toEqual({ apiType: 'scripting' });
    expect(changesOf(STORED)).toEqual({
      ...{ name: 'Shop', apiType: 'scripting', voiceUrl: 'https://shop.example.com/voice' },
    });
  });

  it('sends only changed fields, and clears optional ones', () => {
    expect(changesOf(STORED, STORED)).toEqual({});
    expect(changesOf({ ...STORED, name: '', voiceUrl: '' }, STORED)).toEqual({
      name: '',
      voiceUrl: null,
    });
  });
});
