import { expect, it } from 'vitest';
import { parseResources } from './event-kinds.js';

it.each([
  ['call', 'call'],
  ['all', 'all'],
  ['sms,call', 'sms,call'],
  [' sms ,\tcall ', 'sms,call'],
  ['call,sms,call', 'call,sms'],
  ['call,all', 'all'],
  ['transcription,sms,call', 'transcription,sms,call'],
])('reads %j as %j', (text, resources) => {
  expect(parseResources(text)).toBe(resources);
});

it.each([
  '',
  ' ',
  ',',
  'call,',
  ',call',
  'call,,sms',
  'Call',
  'fax',
  'all,fax',
  'call;sms',
  'call sms',
])('refuses %j', (text) => {
  expect(parseResources(text)).toBeUndefined();
});
