import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Sealed, SecretBox, UnreadableSecretError } from './secret-box.js';

const key = (id: string, fill = id) => ({ id, key: createSecretKey(Buffer.alloc(32, fill)) });
const purpose = 'header of account 1';
const text = 'whsec_ä€𝄞';

/** The reason why the box cannot open a secret; undefined if it can. */
function faultOf(box: SecretBox, sealed: string, as = purpose): string | undefined {
  try {
    box.open(sealed as Sealed, as);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(UnreadableSecretError);
    const { message, cause } = error as Error;
    expect(message).toBe('A stored secret cannot be read now.');
    return (cause as Error).message;
  }
}

describe('a box with keys', () => {
  const box = new SecretBox([key('k2'), key('k1')]);

  it('opens secrets that it or an older key has sealed', () => {
    const sealed = box.seal(text, purpose);
    expect(sealed).toMatch(/^sealed:k2:[\w-]+$/);
    expect(Buffer.from(sealed.slice(10), 'base64url').toString('latin1')).not.toContain('whsec');
    // The second call reads the cache.
    expect([box.open(sealed, purpose), box.open(sealed, purpose)]).toEqual([text, text]);
    expect(box.open(new SecretBox([key('k1')]).seal(text, purpose), purpose)).toBe(text);
    expect(box.open(box.seal('', purpose), purpose)).toBe('');
  });

  it('seals the same text differently each time', () => {
    const seals = Array.from({ length: 1_000 }, () => box.seal(text, purpose));
    const ivs = seals.map((sealed) => sealed.slice('sealed:k2:'.length, -1).slice(0, 16));
    expect(new Set(ivs).size).toBe(1_000);
  });

  it('opens text that was stored before there was a key', () => {
    expect(box.open('whsec_abc' as Sealed, purpose)).toBe('whsec_abc');
  });

  it('does not open a secret for another purpose, even right after opening it', () => {
    const sealed = box.seal(text, purpose);
    box.open(sealed, purpose);
    expect(faultOf(box, sealed, 'header of account 2')).toBe(
      'the key "k2" did not seal it as header of account 2',
    );
  });

  it('does not open a secret with a changed byte or a missing end', () => {
    const sealed = box.seal('text', purpose);
    const bytes = Buffer.from(sealed.slice('sealed:k2:'.length), 'base64url');
    const others = [...bytes.keys()].flatMap((at) => {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      return [changed, bytes.subarray(0, at)];
    });
    for (const other of [...others, Buffer.concat([bytes, bytes.subarray(0, 1)])]) {
      expect(faultOf(box, `sealed:k2:${other.toString('base64url')}`)).toBeDefined();
    }
  });

  it('names the key that is missing or has different bytes', () => {
    const sealed = new SecretBox([key('k3')]).seal(text, purpose);
    const missing = 'SECRETS_KEYS has no key "k3", with which it is sealed';
    expect(box.missingKey).toBeUndefined();
    expect(faultOf(box, sealed)).toBe(missing);
    expect(box.missingKey).toBe('k3');
    const wrong = 'the key "k3" did not seal it as header of account 1';
    expect(faultOf(new SecretBox([key('k3', 'other')]), sealed)).toBe(wrong);
  });

  it.each(['sealed:', 'sealed:k2', 'sealed:k2:', 'sealed:k2:!', 'sealed::AAAA'])(
    'does not open %j',
    (sealed) => {
      expect(faultOf(box, sealed)).toBeDefined();
    },
  );

  it('reports each secret that it cannot open', () => {
    let count = 0;
    const counting = new SecretBox([key('k1')], () => (count += 1));
    counting.open(counting.seal(text, purpose), purpose);
    faultOf(counting, 'sealed:k9:AAAA');
    faultOf(counting, 'sealed:k1:AAAA');
    expect(count).toBe(2);
  });
});

describe('a box without a key', () => {
  const box = new SecretBox([]);

  it.each([text, '', 'sealed', 'sealed:k1:AAAA', 'plain:', 'plain:sealed:'])(
    'stores %j so that boxes with and without a key can read it',
    (plain) => {
      const stored = box.seal(plain, purpose);
      expect(stored.endsWith(plain)).toBe(true);
      for (const one of [box, new SecretBox([key('k1')])]) {
        expect(one.open(stored, purpose)).toBe(plain);
      }
    },
  );

  it('stores text unchanged unless it starts like a sealed or marked secret', () => {
    expect(box.seal('whsec_abc', purpose)).toBe('whsec_abc');
  });
});
