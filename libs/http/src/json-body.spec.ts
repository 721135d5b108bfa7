import { Readable } from 'node:stream';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { afterEach, expect, it, vi } from 'vitest';
import { anyObject, Field, label, ValidationError } from '#libs/kernel';
import { readConfig } from '#libs/runtime';
import { dtoBody } from './json-body.js';

class ThingDto {
  @Field(label(10), { required: true })
  name!: string;

  @Field(anyObject())
  options?: object;
}

const config = readConfig({ DATABASE_URL: 'postgres://unused' });

/** Reads a body as a {@link ThingDto}. */
function read(
  text: string,
  headers: Record<string, string> = {},
  dto: new () => object = ThingDto,
): Promise<object> {
  const bytes = Buffer.from(text);
  const all = {
    'content-type': 'application/json',
    'content-length': String(bytes.length),
    ...headers,
  };
  const request = Object.assign(Readable.from([bytes]), { method: 'POST', headers: all, config });
  const getRequest = () => request as unknown as Request;
  return dtoBody(dto, { switchToHttp: () => ({ getRequest }) } as ExecutionContext);
}

async function faultsIn(
  text: string,
  headers?: Record<string, string>,
  dto?: new () => object,
): Promise<string[]> {
  try {
    await read(text, headers, dto);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.faults.map(({ field, code }) => `${field} ${code}`);
  }
}

const names = (count: number) =>
  Array.from({ length: count }, (_, index) => `"member${index}":{"a${index}":1}`).join();

afterEach(() => void vi.restoreAllMocks());

it('does not parse members that are unknown', async () => {
  const parse = vi.spyOn(JSON, 'parse');
  expect(await read(`{${names(8_000)},"name":"x","options":{"a":1}}`)).toEqual({
    name: 'x',
    options: { a: 1 },
  });
  expect(parse.mock.calls.map(([text]) => text)).toEqual(['"x"', '{"a":1}']);
});

it('does not parse an object that is longer than any valid one', async () => {
  const parse = vi.spyOn(JSON, 'parse');
  const options = `{${names(5_000)}}`;
  expect(await faultsIn(`{"name":"","options":${options}}`)).toEqual([
    'name length',
    'options length',
  ]);
  expect(parse.mock.calls.map(([text]) => text)).toEqual(['""']);
});

it('names unknown members in strict handling, and takes the last of repeated ones', async () => {
  const text = '{"name":1,"n\\u0061me":"x","nam":1,"__proto__":{"name":""}}';
  expect(await read(text)).toEqual({ name: 'x' });
  expect(await faultsIn(text, { prefer: 'handling=strict' })).toEqual([
    'nam not_allowed',
    '__proto__ not_allowed',
  ]);
});

it('refuses members that a DTO names, unless they are null', async () => {
  class RefusingDto extends ThingDto {
    static readonly refused = ['contains'];
  }
  const strict = { prefer: 'handling=strict' };
  for (const headers of [{}, strict]) {
    const text = '{"name":"x","contains":"+1407"}';
    expect(await faultsIn(text, headers, RefusingDto)).toEqual(['contains not_allowed']);
  }
  const many = `{${names(2_000)},"name":"x","contains":"y"}`;
  expect(await faultsIn(many, {}, RefusingDto)).toEqual(['contains not_allowed']);
  expect(await faultsIn('{"name":"x","contains":null}', {}, RefusingDto)).toEqual([]);
});

it('refuses unknown members of a DTO that says so, null, too', async () => {
  class StrictDto extends ThingDto {
    static readonly refusesUnknown = true;
  }
  expect(await read('{"name":"x"}', {}, StrictDto)).toEqual({ name: 'x' });
  await expect(read('{"name":"x","Name":null}', {}, StrictDto)).rejects.toMatchObject({
    faults: [
      {
        field: 'Name',
        code: 'not_allowed',
        message: 'Name is not known here (did you mean name?).',
      },
    ],
  });
});
