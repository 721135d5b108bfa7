import fc from 'fast-check';
import { expect, it } from 'vitest';
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
