import { expect, it } from 'vitest';
import { ReportedEventSchema } from './event-body.schema.js';
import { readEvent } from './event.body.js';

it('describes exactly the members that are read from an event', () => {
  const read = new Set<string>();
  const event = new Proxy(
    {},
    {
      getOwnPropertyDescriptor: (target, name) => {
        read.add(String(name));
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
    },
  );
  readEvent(event, '{}');
  expect([...read].sort()).toEqual(Object.keys(ReportedEventSchema.properties ?? {}).sort());
});

it('requires exactly the members whose absence is a fault', () => {
  const { faults } = readEvent({}, '{}') as { faults: { field: string; code: string }[] };
  const { required = [], allOf = [] } = ReportedEventSchema;
  const [oneOfThese] = allOf.flatMap(({ anyOf }) => anyOf?.[0]?.required ?? []);
  expect(faults.map(({ field, code }) => `${field} ${code}`).sort()).toEqual(
    [...required, oneOfThese].map((field) => `${field} required`).sort(),
  );
});

it('limits ids to the safe integers of JavaScript', () => {
  const { applicationId, accountId } = ReportedEventSchema.properties ?? {};
  for (const id of [applicationId, accountId]) expect(id?.maximum).toBe(Number.MAX_SAFE_INTEGER);
  const event = { event: 'smsdlr', resource: 'sms', data: {}, accountId: 2 ** 53 };
  const { faults } = readEvent(event, '{"data":{}}') as { faults: { field: string }[] };
  expect(faults.map(({ field }) => field)).toEqual(['accountId']);
});
