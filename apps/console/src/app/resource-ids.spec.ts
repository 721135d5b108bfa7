import { describe, expect, it } from 'vitest';
import { pagesOfId } from './resource-ids.js';

const PAGES = [
  { path: '/deliveries' },
  { path: '/deliveries/:id', shows: 'deliveries' },
  { path: '/events/:id', shows: 'events' },
  { path: '/subscriptions/:id', shows: 'webhooks' },
  { path: '/applications/:id', shows: 'applications' },
  { path: '/accounts/:id', shows: 'users' },
] as const;
const UUID = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';

const pathsOf = (pasted: string, pages: Parameters<typeof pagesOfId>[1] = PAGES) =>
  pagesOfId(pasted, pages).map(({ path }) => path);

describe('a pasted id', () => {
  it.each([UUID, ` ${UUID.toUpperCase()}\n`])(
    'offers a delivery and an event for a UUID: %j',
    (id) => {
      expect(pathsOf(id)).toEqual([`/deliveries/${UUID}`, `/events/${UUID}`]);
    },
  );

  it('offers a subscription, an application and an account for a number', () => {
    expect(pagesOfId('4711', PAGES)).toEqual([
      { name: 'Open this subscription', path: '/subscriptions/4711' },
      { name: 'Open this application', path: '/applications/4711' },
      { name: 'Open this account', path: '/accounts/4711' },
    ]);
  });

  it('offers only pages that the user has', () => {
    expect(pathsOf('4711', PAGES.slice(0, 4))).toEqual(['/subscriptions/4711']);
    expect(pathsOf(UUID, [])).toEqual([]);
  });

  it.each([
    '',
    '0',
    '007',
    '47 11',
    '-1',
    '12345678901234567890',
    `${UUID}0`,
    'deliveries',
    '../1',
  ])('is not recognized in %j', (text) => {
    expect(pathsOf(text)).toEqual([]);
  });
});

describe('a pasted address of the API', () => {
  it.each([
    [`https://api.example.com/v1/deliveries/${UUID}`, `/deliveries/${UUID}`],
    [`/v1/events/${UUID}/`, `/events/${UUID}`],
    ['https://example.com/switchhook/v1/webhooks/4711', '/subscriptions/4711'],
    ['http://127.0.0.1:3000/v1/applications/5/webhooks/4711', '/subscriptions/4711'],
    ['https://api.example.com/v1/users/83346', '/accounts/83346'],
  ])('opens the resource that it names: %s', (address, path) => {
    expect(pathsOf(address)).toEqual([path]);
  });

  it.each(['https://api.example.com/v1/deliveries', '/v1/environments/2', '/v1/events/4711'])(
    'is not offered without a page: %s',
    (address) => {
      expect(pathsOf(address)).toEqual([]);
    },
  );
});
