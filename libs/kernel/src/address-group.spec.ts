import { expect, it } from 'vitest';
import { addressGroup, siteOf } from './address-group.js';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
  ['', ''],
])('puts the address %j into the group %j', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

it('puts all groups of a /48 into one site', () => {
  const sites = ['2001:db8:1:2::1', '2001:db8:1:ffff::1'].map((one) => siteOf(addressGroup(one)));
  expect(sites).toEqual(['2001:db8:1::/48', '2001:db8:1::/48']);
  expect(siteOf('192.0.2.1')).toBe('192.0.2.1');
});
