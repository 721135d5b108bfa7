import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PreconditionFailedError } from '#libs/kernel';
import { entityTag, versionCheck } from './entity-tag.js';

const versions = fc.nat();
const blanks = fc.constantFrom('', ' ', '\t');
/** Tags that never name one of our versions. */
const others = fc.oneof(
  fc.constantFrom('""', '"x"', 'W/"1"', 'w/"2"', '1', '"01"', '"1 "', '"-1"', '"', ''),
  fc.stringMatching(/^"[a-z,;= ]{0,8}"$/),
);

/** Whether a header matches a version. */
function passes(header: string | undefined, version: number): boolean {
  try {
    versionCheck(header)(version);
    return true;
  } catch (error) {
    if (error instanceof PreconditionFailedError) return false;
    throw error;
  }
}

it('matches every version without the header and with an asterisk', () => {
  fc.assert(
    fc.property(versions, blanks, (version, blank) => {
      expect(passes(undefined, version)).toBe(true);
      expect(passes(`${blank}*${blank}`, version)).toBe(true);
    }),
  );
});

it('matches exactly the listed versions, at any position in the list', () => {
  const list = fc.array(fc.oneof(versions.map(entityTag), others), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(list, versions, blanks, fc.nat(), (tags, version, blank, at) => {
      const header = tags.join(`${blank},${blank}`);
      expect(passes(header, version)).toBe(tags.includes(entityTag(version)));
      const place = at % (tags.length + 1);
      const withOurs = [...tags.slice(0, place), entityTag(version), ...tags.slice(place)];
      expect(passes(withOurs.join(`${blank},${blank}`), version)).toBe(true);
    }),
  );
});

it('never matches a weak tag or a text that is not a list', () => {
  const header = fc.oneof(
    versions.map((version) => `W/${entityTag(version)}`),
    fc.string(),
  );
  fc.assert(
    fc.property(header, versions, (text, version) => {
      const isOurs = text.split(',').some((tag) => tag.trim() === entityTag(version));
      expect(passes(text, version)).toBe(isOurs || text.trim() === '*');
      expect(passes(`W/${entityTag(version)}`, version)).toBe(false);
    }),
  );
});

describe('the reason of a refusal', () => {
  const reason = (header: string) => {
    try {
      versionCheck(header)(1);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each(['"2"', '"0"', 'W/"1", "2"', '"x", "2"', '1, "2"'])(
    'is a change for the tag of another version, %s',
    (header) => {
      expect(reason(header)).toBe(
        'The resource has changed since the version that If-Match names.',
      );
    },
  );

  it.each(['W/"1"', 'W/"1", W/"2"', '"x", W/"1"', 'W/"1-gzip"'])(
    'is the weakness of %s',
    (header) => {
      expect(reason(header)).toMatch(
        /^If-Match has a weak tag, which never matches: send the ETag /,
      );
    },
  );

  it.each(['"1-gzip"', '"1;br"', '"1--gzip"', '"01"', '"*"', '""', '"x", "y"'])(
    'is that no answer has the tag %s',
    (header) => {
      expect(reason(header)).toMatch(/^If-Match has a tag that no version has: send the ETag /);
    },
  );

  it.each(['1', "'1'", 'w/"1"', '"1', '1"', '', '\u201c1\u201d', '*, *', '"x", 1'])(
    'is that %s is not in quotes',
    (header) => {
      expect(reason(header)).toMatch(/^If-Match must have tags in quotes: send the ETag /);
    },
  );
});
