import { expect, it } from 'vitest';
import { RawJson } from '#libs/kernel';
import * as schema from './openapi/schema.js';
import { computed, viewOf } from './view.js';

interface Shop {
  id: string;
  name: string | null;
  data: string | null;
}

const ShopView = viewOf<Shop>()('Shop', {
  href: computed(schema.href('', 'shops/7'), ({ id }, href) => href('shops', id)),
  name: schema.optional(schema.text('', 'Books')),
  id: schema.numericId('', '7'),
  data: computed(
    schema.optional(schema.anyObject('', {})),
    ({ data }) => data && new RawJson(data),
  ),
});
const href = (...segments: string[]) => `/${segments.join('/')}`;

it('shows the members in their declared order, and raw JSON as it was sent', () => {
  const shop = { id: '7', name: 'Böoks "2"', data: '{ "n": 1.0 }' };
  expect(ShopView.text(shop, href)).toBe(
    '{"href":"/shops/7","name":"Böoks \\"2\\"","id":"7","data":{ "n": 1.0 }}',
  );
});

it('omits what is null', () => {
  const shop = { id: '7', name: null, data: null };
  expect(ShopView.text(shop, href)).toBe('{"href":"/shops/7","id":"7"}');
  expect(JSON.stringify(ShopView.show(shop, href))).toBe('{"href":"/shops/7","id":"7"}');
});

it('requires every member in its schema that is not optional', () => {
  expect(ShopView.schema.required).toEqual(['href', 'id']);
  expect(Object.keys(ShopView.schema.properties ?? {})).toEqual(['href', 'name', 'id', 'data']);
});

it('shares its members with another view', () => {
  const Other = viewOf<Shop>()('Other', { ...ShopView.members, name: schema.optional({}) });
  expect(Other.text({ id: '7', name: 'Books', data: null }, href)).toBe(
    ShopView.text({ id: '7', name: 'Books', data: null }, href),
  );
});
