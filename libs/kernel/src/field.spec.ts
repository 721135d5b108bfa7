import { expect, it } from 'vitest';
import { Field, fieldsOf, IdField, readFields } from './field.js';
import { integer, label } from './validator.js';

class ThingDto {
  @Field(label(10), { requiredUnless: 'id' })
  name?: string;

  @Field(
    integer({ min: 1, max: 9 }),
    { name: 'count', read: (count: number) => count * 10, clearsTo: 50, default: 20 },
    (count, { isNew, read: { name } }) =>
      isNew && name === 'few' && count > 3 ? { code: 'conflict', says: 'is not few' } : undefined,
  )
  tens!: number;
}

class RecordDto extends ThingDto {
  @IdField({ required: true })
  id!: string;
}

function read(members: Record<string, unknown>, isNew = true) {
  const { value, problems } = readFields(ThingDto, (name) => members[name], { isNew });
  const faults = problems.map(([name, { code }]) => `${name} ${code}`);
  return faults.length > 0 ? faults : Object.fromEntries(Object.entries(value));
}

it('reads only what is declared, converted', () => {
  expect(read({ name: 'x', count: 3, tens: 7, more: 1 })).toStrictEqual({ name: 'x', tens: 30 });
});

it('sets the default of a member that something new does not have', () => {
  for (const count of [undefined, null])
    expect(read({ name: 'x', count })).toMatchObject({ tens: 20 });
  expect(read({}, false)).toStrictEqual({});
});

it('reads null in a change as the value that clears, if there is one', () => {
  expect(read({ count: null }, false)).toStrictEqual({ tens: 50 });
  expect(read({ name: null }, false)).toEqual(['name type']);
});

it('requires members of something new alone', () => {
  expect(read({ id: null })).toEqual(['name required']);
  expect(read({ id: 1 })).toEqual({ tens: 20 });
  expect(read({}, false)).toEqual({});
});

it('applies a rule to a valid value, with the valid fields before', () => {
  expect(read({ name: 'few', count: 4 })).toEqual(['count conflict']);
  expect(read({ name: 'few', count: 10 })).toEqual(['count range']);
  expect(read({ name: '', count: 4 })).toEqual(['name length']);
  expect(read({ name: 'few', count: 4 }, false)).toEqual({ name: 'few', tens: 40 });
});

it('reads the fields of base classes after its own', () => {
  expect(fieldsOf(RecordDto).map(({ name }) => name)).toEqual(['id', 'name', 'count']);
  expect(fieldsOf(ThingDto).map(({ name }) => name)).toEqual(['name', 'count']);
  const { value } = readFields(RecordDto, (name) => (name === 'id' ? 7 : undefined));
  expect(value).toEqual({ id: '7', tens: 20 });
});
