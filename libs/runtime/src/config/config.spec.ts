import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processesFor } from './config-values.js';
import {
  configJsonSchema,
  InvalidConfigError,
  readSettings,
  readConfig,
  readConfigOf,
  settingsOf,
} from './config.js';
import { SECRETS } from './secret-files.js';

/** 32 bytes in Base64 that are easy to recognise. */
const KEY = `SECRET${'A'.repeat(37)}=`;
const DATABASE_URL = 'postgres://127.0.0.1/switchhook';
const read = (variables: Record<string, string | undefined>) =>
  readConfig({ DATABASE_URL, ...variables });

const hostBitsOf = (network: string) =>
  `must not have host bits set in a CIDR block; did you mean ${network}?`;

/** The address without its host bits. */
function networkOf(address: string, bits: number): ipaddr.IPv4 | ipaddr.IPv6 {
  const bytes = ipaddr.parse(address).toByteArray();
  const kept = (place: number) => Math.min(Math.max(bits - place * 8, 0), 8);
  return ipaddr.fromByteArray(bytes.map((byte, place) => byte & (0xff << (8 - kept(place)))));
}

/** The error message, or an empty text if there is none. */
function faultOf(variables: Record<string, string | undefined>, reads = read): string {
  try {
    reads(variables);
    return '';
  } catch (error) {
    if (error instanceof InvalidConfigError) return error.message;
    throw error;
  }
}

describe('processesFor', () => {
  it.each([
    [2, 1, 1],
    [4, 1, 2],
    [8, 2, 4],
    [64, 4, 4],
  ])('splits %i cores into %i API and %i worker processes', (cores, apis, workers) => {
    expect([processesFor(cores / 4), processesFor(cores / 2)]).toEqual([apis, workers]);
  });
});

describe('readConfig', () => {
  it('requires DATABASE_URL and has defaults for all other variables', () => {
    const config = readConfig({ DATABASE_URL });
    expect(config).toMatchObject({
      DATABASE_URL,
      DATABASE_POOL_SIZE: 10,
      DATABASE_PREPARED_STATEMENTS: true,
      DATABASE_SYNCHRONOUS: false,
      REDIS_URL: 'redis://127.0.0.1:6379',
      HOST: '0.0.0.0',
      PORT: 3000,
      WORKER_PORT: 3001,
      METRICS_PORT: 0,
      TRUSTED_PROXIES: [],
      CORS_ORIGINS: [],
      CONSOLE_FRAME_ANCESTORS: [],
      MAX_BODY_BYTES: 262_144,
      MAX_BATCH_BYTES: 8_388_608,
      MAX_CONNECTIONS: 4_000,
      DELIVERY_ALLOWED_NETWORKS: [],
      DELIVERY_DENIED_NETWORKS: [],
      DELIVERY_TIMEOUT_MS: 15_000,
      DELIVERY_CONCURRENCY: 50,
      WORKER_CONCURRENCY: 400,
      QUEUE_SHARDS: 1,
      RETENTION_DAYS: 30,
      RATE_LIMIT: { quota: 60_000, windowMs: 60_000 },
      LOG_LEVEL: 'info',
      NODE_ENV: 'development',
      SECRETS_KEYS: [],
    });
    expect(config.PUBLIC_BASE_URL).toBeUndefined();
    expect(config.MIGRATION_DATABASE_URL).toBeUndefined();
    expect(config.DELIVERY_PROXY_URL).toBeUndefined();
  });

  it('names DATABASE_URL when it is missing or empty', () => {
    const missing = 'configuration: DATABASE_URL is not set';
    expect(faultOf({ DATABASE_URL: undefined })).toBe(missing);
    expect(faultOf({ DATABASE_URL: '' })).toBe(missing);
  });

  it('treats an empty variable as not set', () => {
    const names = Object.keys(configJsonSchema().properties ?? {}).filter(
      (name) => name !== 'DATABASE_URL' && name !== 'DELIVERY_RETRY_SCHEDULE',
    );
    expect(names.length).toBeGreaterThan(15);
    expect(read(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(read({}));
  });

  it.each([
    ['10/s', 10, 1_000],
    ['600/m', 600, 60_000],
    [' 1/h ', 1, 3_600_000],
    ['100000/s', 100_000, 1_000],
  ])('reads the rate %j', (RATE_LIMIT, quota, windowMs) => {
    expect(read({ RATE_LIMIT }).RATE_LIMIT).toEqual({ quota, windowMs });
  });

  it.each(['600', '0/m', '-1/m', '600/d', '600 / m', '1.5/s', '100001/s', 'x', '600/min'])(
    'refuses the rate %j',
    (RATE_LIMIT) => {
      expect(faultOf({ RATE_LIMIT })).toMatch(/^configuration: RATE_LIMIT: must be .*600\/m/);
    },
  );

  it('ignores unknown variables', () => {
    expect(read({ HOME: '/root', PORTS: 'x' })).toEqual(read({}));
  });

  it.each([
    ['DATABASE_POOL_SIZE', 2, 500],
    ['API_PROCESSES', 1, 64],
    ['WORKER_PROCESSES', 1, 64],
    ['PORT', 0, 65_535],
    ['MAX_CONNECTIONS', 1, 1_000_000],
    ['WORKER_PORT', 0, 65_535],
    ['METRICS_PORT', 0, 65_535],
    ['MAX_BODY_BYTES', 1_024, 67_108_864],
    ['MAX_BATCH_BYTES', 1_024, 67_108_864],
    ['DELIVERY_TIMEOUT_MS', 1_000, 20_000],
    ['DELIVERY_CONCURRENCY', 1, 1_000],
    ['WORKER_CONCURRENCY', 1, 5_000],
    ['QUEUE_SHARDS', 1, 64],
    ['RETENTION_DAYS', 1, 3_650],
    ['INSTALLATION_GROUP', 0, 1_023],
  ] as const)('takes whole numbers for %s from %d to %d', (name, least, most) => {
    expect(read({ [name]: String(least) })[name]).toBe(least);
    expect(read({ [name]: String(most) })[name]).toBe(most);
    for (const bad of [String(least - 1), String(most + 1), `${String(least)}.5`, 'many']) {
      expect(faultOf({ [name]: bad })).toMatch(new RegExp(`^configuration: ${name}: `));
    }
  });

  it('reads switches and choices', () => {
    expect(read({ DATABASE_PREPARED_STATEMENTS: 'false' }).DATABASE_PREPARED_STATEMENTS).toBe(
      false,
    );
    expect(read({ DATABASE_PREPARED_STATEMENTS: 'true' }).DATABASE_PREPARED_STATEMENTS).toBe(true);
    expect(read({ LOG_LEVEL: 'error' }).LOG_LEVEL).toBe('error');
  });

  it('removes trailing slashes from PUBLIC_BASE_URL', () => {
    expect(read({ PUBLIC_BASE_URL: 'https://api.example.com' }).PUBLIC_BASE_URL).toBe(
      'https://api.example.com',
    );
    expect(read({ PUBLIC_BASE_URL: 'http://10.0.0.1:8080/x//' }).PUBLIC_BASE_URL).toBe(
      'http://10.0.0.1:8080/x',
    );
  });

  it.each([
    ['5s,30s,5m,2h', [5_000, 30_000, 300_000, 7_200_000]],
    [' 250ms , 1d ', [250, 86_400_000]],
    ['0s,7d', [0, 604_800_000]],
    ['', []],
    ['  ', []],
  ])('reads the retry schedule %j', (text, delays) => {
    expect(read({ DELIVERY_RETRY_SCHEDULE: text }).DELIVERY_RETRY_SCHEDULE).toEqual(delays);
  });

  it('has ten retries by default, over three days and a few hours', () => {
    const { DELIVERY_RETRY_SCHEDULE: delays } = read({});
    expect(delays).toHaveLength(10);
    expect(delays.reduce((sum, delay) => sum + delay, 0)).toBe(272_135_000);
  });

  const NETWORKS = [
    'TRUSTED_PROXIES',
    'DELIVERY_ALLOWED_NETWORKS',
    'DELIVERY_DENIED_NETWORKS',
  ] as const;

  it.each(NETWORKS)('reads CIDR blocks and single addresses from %s', (name) => {
    const blocks = read({ [name]: '10.0.0.0/8, 192.0.2.7,,::1 , fd00::/8' })[name];
    expect(blocks.map(([address, bits]) => `${address.toString()}/${String(bits)}`)).toEqual([
      '10.0.0.0/8',
      '192.0.2.7/32',
      '::1/128',
      'fd00::/8',
    ]);
  });

  it('reads SECRETS_KEYS in order', () => {
    const [one, other] = ['1', '2'].map((fill) => Buffer.alloc(32, fill));
    const text = ` k-1:${one!.toString('base64')}, K_2:${other!.toString('base64')}`;
    const keys = read({ SECRETS_KEYS: text }).SECRETS_KEYS;
    expect(keys.map(({ id, key }) => [id, key.export()])).toEqual([
      ['k-1', one],
      ['K_2', other],
    ]);
    expect(JSON.stringify(keys)).not.toContain(one!.toString('base64'));
  });

  it.each([
    ['', 2, 'must be'],
    ['k2', 2, 'must be'],
    [`:${KEY}`, 2, 'must be'],
    [`k 2:${KEY}`, 2, 'must be'],
    [`${'k'.repeat(33)}:${KEY}`, 2, 'must be'],
    [`k2:${KEY.slice(4)}`, 2, 'must be'],
    [`k2:${KEY}${KEY}`, 2, 'must be'],
    [`k2:${KEY.replace('SECRET', 'SECR-T')}`, 2, 'must be'],
    [`k2:${KEY},k3:${KEY},k2:${KEY}`, 4, 'repeats an id'],
  ])('names the position of the fault in SECRETS_KEYS=k1:…,%s', (rest, place, says) => {
    const fault = faultOf({ SECRETS_KEYS: `k1:${KEY},${rest}` });
    expect(fault).toContain(`configuration: SECRETS_KEYS: key ${String(place)} ${says}`);
    expect(fault).not.toContain(KEY.slice(0, 8));
  });

  it.each([
    ['DATABASE_PREPARED_STATEMENTS', 'SECRET'],
    ['DATABASE_URL', 'SECRET'],
    ['DATABASE_URL', 'postgres://user:SECRET@host,host:SECRET/name'],
    ['DATABASE_URL', 'postgres://user:SECRET@host/name?sslmode=SECRET'],
    ['MIGRATION_DATABASE_URL', 'postgres://user:SECRET@host/name?SECRET=1'],
    ['PUBLIC_BASE_URL', 'SECRET'],
    ['PUBLIC_BASE_URL', 'ftp://SECRET.example.com'],
    ['TRUSTED_PROXIES', 'SECRET'],
    ['TRUSTED_PROXIES', '10.0.0.0/8,10.0.0.0/33SECRET'],
    ['CORS_ORIGINS', 'https://app.example.com,SECRET'],
    ['DELIVERY_ALLOWED_NETWORKS', '10.0.0.256/SECRET'],
    ['DELIVERY_DENIED_NETWORKS', 'SECRET'],
    ['DATABASE_URL', 'postgres://user:pass@SECRET/word@host/name'],
    ['REDIS_URL', 'redis://user:pass@SECRET/word@host'],
    ['REDIS_URL', 'redis://user:%SECRET@host'],
    ['DELIVERY_PROXY_URL', 'SECRET:3128'],
    ['DELIVERY_PROXY_URL', 'http://user:8080/SECRET@proxy:3128'],
    ['DELIVERY_PROXY_URL', 'socks5://user:SECRET@proxy:1080'],
    ['DELIVERY_RETRY_SCHEDULE', '5s,SECRET'],
    ['DELIVERY_RETRY_SCHEDULE', '5SECRET'],
    ['PORT', 'SECRET'],
    ['LOG_LEVEL', 'SECRET'],
  ])('refuses %s=%j with an error that names the variable, not its value', (name, value) => {
    const fault = faultOf({ [name]: value });
    expect(fault).toMatch(new RegExp(`^configuration: ${name}: .`));
    expect(fault).not.toContain('SECRET');
  });

  it.each(['5s,', ',5s', '5', '-5s', '5 s', '1.5s', '8d', '604800001ms', '5w', '1234567890s'])(
    'refuses the retry schedule %j',
    (text) => {
      expect(faultOf({ DELIVERY_RETRY_SCHEDULE: text })).toContain('DELIVERY_RETRY_SCHEDULE: must');
    },
  );

  it.each([
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/ 8',
    '300.0.0.1',
    '10/8',
    '10.0/16',
    '010.0.0.0/8',
    '0x0a000000/8',
    '167772160/8',
    '::1/129',
    '::1%lo/128',
    'fe80::%eth0',
    '[::1]/128',
    'example.com',
    '10.0.0.0/8;::1',
    '10.0.0.1/8',
    '127.0.0.0/8,192.0.2.1/31',
    '128.0.0.0/0',
    'fd00::1/8',
    '::ffff:10.0.0.1/127',
    '::1/0',
  ])('refuses the CIDR list %j', (text) => {
    for (const name of NETWORKS) expect(faultOf({ [name]: text })).toContain(`${name}: must`);
  });

  it.each([
    ['10.0.0.1/8', '10.0.0.0/8'],
    ['192.0.2.255/25', '192.0.2.128/25'],
    ['128.0.0.0/0', '0.0.0.0/0'],
    ['fd00:0:0::1/8', 'fd00::/8'],
    ['2001:db8::8000:1/113', '2001:db8::8000:0/113'],
    ['::1/0', '::/0'],
  ])('refuses the CIDR block %j and suggests %j', (written, meant) => {
    for (const name of NETWORKS) {
      expect(faultOf({ [name]: `192.0.2.7,${written}` })).toBe(
        `configuration: ${name}: ${hostBitsOf(meant)}`,
      );
    }
  });

  it('accepts a CIDR block without host bits, and suggests one for any other', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(128), (address, any) => {
        const bits = any % (ipaddr.parse(address).toByteArray().length * 8 + 1);
        const network = networkOf(address, bits);
        const fault = faultOf({ TRUSTED_PROXIES: `${address}/${String(bits)}` });
        const isNetwork = network.toString() === ipaddr.parse(address).toString();
        const meant = hostBitsOf(`${network.toString()}/${String(bits)}`);
        expect(fault).toBe(isNetwork ? '' : `configuration: TRUSTED_PROXIES: ${meant}`);
      }),
    );
  });

  it('reads any valid CIDR list, and refuses any other text without repeating it', () => {
    const blanks = fc.constantFrom('', ' ', '\t', ' , ', ',,');
    const block = fc.oneof(
      fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })),
      fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })),
    );
    const written = fc.array(fc.tuple(blanks, block));
    fc.assert(
      fc.property(written, (blocks) => {
        const expected = blocks.map(([, [address, bits]]) => [networkOf(address, bits), bits]);
        const text = blocks
          .map(([blank], index) => blank + expected[index]!.map(String).join('/'))
          .join(',');
        expect(read({ TRUSTED_PROXIES: text }).TRUSTED_PROXIES).toEqual(expected);
      }),
    );
    const any = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdefx.:/,% ')) }),
    );
    fc.assert(
      fc.property(any, (text) => {
        const fault = faultOf({ TRUSTED_PROXIES: text });
        if (fault === '') return;
        expect(fault).toMatch(
          /^configuration: TRUSTED_PROXIES: must (be a comma-separated list of CIDR blocks$|not have host bits)/,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads a list of origins', () => {
    const list = ' https://app.example.com,http://localhost:5173 ,,https://[::1]:8443';
    expect(read({ CORS_ORIGINS: list }).CORS_ORIGINS).toEqual([
      'https://app.example.com',
      'http://localhost:5173',
      'https://[::1]:8443',
    ]);
  });

  it.each([
    ...['*', 'null', 'https://*.example.com', 'https://app.example.com/', 'app.example.com'],
    ...['https://app.example.com:443', 'HTTPS://app.example.com', 'https://user@app.example.com'],
    ...['https://app.example.com/path', 'ftp://app.example.com', 'https://app.example.com;x'],
  ])('refuses %j in the list of origins', (text) => {
    expect(faultOf({ CORS_ORIGINS: `https://other.example.com,${text}` })).toContain(
      'CORS_ORIGINS: must',
    );
  });

  describe('secrets in files', () => {
    let file: string;
    beforeAll(() => {
      file = join(mkdtempSync(join(tmpdir(), 'switchhook-secrets-')), 'secret');
    });
    afterAll(() => rmSync(dirname(file), { recursive: true }));

    it('come from the file that X_FILE names, without its last line break', () => {
      const values = {
        DATABASE_URL: 'postgres://user:SECRET@host/name',
        MIGRATION_DATABASE_URL: 'postgres://user:SECRET@host/name',
        REDIS_URL: 'redis://:SECRET@host',
        REDIS_PASSWORD: ' SECRET\n',
        REDIS_SENTINEL_PASSWORD: ' SECRET\n',
        DELIVERY_PROXY_URL: 'http://user:SECRET@host',
        SECRETS_KEYS: `k1:${KEY}`,
      };
      expect(Object.keys(values).sort()).toEqual([...SECRETS].sort());
      for (const [name, value] of Object.entries(values)) {
        writeFileSync(file, `${value}\n`);
        const config = readConfig({ DATABASE_URL, [name]: '', [`${name}_FILE`]: file });
        expect(config).toEqual(read({ [name]: value }));
      }
    });

    it('count as not set if the file or its name is empty', () => {
      writeFileSync(file, '\n');
      expect(read({ SECRETS_KEYS_FILE: file, DELIVERY_PROXY_URL_FILE: '' })).toEqual(read({}));
    });

    it('are refused if the variable is set, too, or if the file cannot be read', () => {
      writeFileSync(file, 'SECRET');
      expect(faultOf({ DATABASE_URL_FILE: file, PORT: 'x', REDIS_URL_FILE: `${file}/x` })).toMatch(
        /^configuration: DATABASE_URL: must not be set together with DATABASE_URL_FILE; REDIS_URL_FILE: the file cannot be read \(ENOTDIR\); PORT: /,
      );
      expect(faultOf({ DATABASE_URL: '', DATABASE_URL_FILE: '/SECRET' })).toBe(
        'configuration: DATABASE_URL_FILE: the file cannot be read (ENOENT)',
      );
    });

    it.each<[what: string, path: () => string, says: string]>([
      ['a file that never ends', () => '/dev/zero', 'is not a regular file'],
      ['a directory', () => dirname(file), 'is not a regular file'],
      [
        'a FIFO that nobody writes',
        () => {
          execFileSync('mkfifo', [`${file}.fifo`]);
          return `${file}.fifo`;
        },
        'is not a regular file',
      ],
      [
        'a file that is too large',
        () => {
          writeFileSync(file, '');
          truncateSync(file, (1 << 20) + 1);
          return file;
        },
        'has more than 1048576 bytes',
      ],
      [
        'bytes that are not text',
        () => {
          writeFileSync(file, Buffer.from([0xff, 0xfe, 0x70, 0x00]));
          return file;
        },
        'is not UTF-8',
      ],
    ])('are refused if the file is %s', (_, path, says) => {
      expect(faultOf({ SECRETS_KEYS_FILE: path() })).toBe(
        `configuration: SECRETS_KEYS_FILE: the file ${says}`,
      );
    });

    it('are missing if a variable is required and the file is empty, which the error says', () => {
      writeFileSync(file, '\n');
      expect(faultOf({ DATABASE_URL: undefined, DATABASE_URL_FILE: file })).toBe(
        'configuration: DATABASE_URL is not set: the file of DATABASE_URL_FILE is empty',
      );
    });

    it('are not read for programs that need other variables', () => {
      const { HOST } = readSettings(['HOST', 'PORT'], { DATABASE_URL_FILE: '/nowhere' });
      expect(HOST).toBe('0.0.0.0');
    });

    it.each(SECRETS)('are documented: %s', (name) => {
      const page = new URL('../../../../docs/configuration.md', import.meta.url);
      expect(readFileSync(page, 'utf8')).toContain(`\`${name}_FILE\``);
    });
  });

  describe('of a program', () => {
    /** What Kubernetes sets for a Service of this name. */
    const FOREIGN = 'tcp://10.96.0.10:3001';
    const names = Object.keys(configJsonSchema().properties ?? {});
    /** Settings of which any text is a value. */
    const TEXTS = [
      ...['DATABASE_API_ROLE', 'DATABASE_WORKER_ROLE', 'REDIS_PASSWORD', 'REDIS_SENTINEL_PASSWORD'],
      ...['HOST', 'NODE_ENV'],
    ];

    it.each(['api', 'worker', 'cli'] as const)('are those that it reads: %s', (program) => {
      const own = settingsOf(program);
      const others = names.filter((name) => !own.includes(name));
      expect(others.length).toBeGreaterThan(5);
      const foreign = Object.fromEntries(others.map((name) => [name, FOREIGN]));
      const readOwn = (variables: Record<string, string | undefined>) =>
        readConfigOf(program, { DATABASE_URL, ...foreign, ...variables });
      expect(readOwn({})).toEqual(read({}));
      for (const name of own.filter((one) => !TEXTS.includes(one))) {
        const fault = faultOf({ [name]: FOREIGN }, readOwn);
        expect(fault).toMatch(
          new RegExp(`^configuration: ${name}: (key 1 )?must (?!.*; [A-Z_]+: )`),
        );
        expect(fault).not.toContain(FOREIGN);
      }
    });

    it('are read by at least one program each', () => {
      const all = (['api', 'worker', 'cli'] as const).flatMap(settingsOf);
      expect([...new Set(all)].sort()).toEqual(names.sort());
    });

    it('are not read from files that belong to others', () => {
      const environment = { DATABASE_URL, DELIVERY_PROXY_URL_FILE: '/nowhere' };
      expect(readConfigOf('api', environment)).toEqual(read({}));
      expect(() => readConfigOf('worker', environment)).toThrow('DELIVERY_PROXY_URL_FILE: ');
    });
  });

  it('names every fault at once', () => {
    const fault = faultOf({ DATABASE_URL: undefined, PORT: 'x', LOG_LEVEL: 'y' });
    for (const part of ['DATABASE_URL is not set', 'PORT: ', 'LOG_LEVEL: ']) {
      expect(fault).toContain(part);
    }
  });
});

describe('readSettings', () => {
  it('requires no other variable', () => {
    expect(readSettings(['HOST', 'PORT'], { PORT: '41000', LOG_LEVEL: 'x' })).toEqual({
      HOST: '0.0.0.0',
      PORT: 41_000,
    });
  });

  it('names the invalid variable', () => {
    expect(() => readSettings(['PORT'], { PORT: 'x' })).toThrow(/^configuration: PORT: /);
  });
});
