import type { Snippet } from './snippet.js';

const server = `
createServer(async (request, response) => {
  try {
    const body = await buffer(request);
    if (!isGenuine(request.headers, body)) {
      response.writeHead(400).end();
      return;
    }
    console.log('genuine', body.toString());
    response.writeHead(204).end();
  } catch {
    // The request broke off.
    response.destroy();
  }
}).listen(4000);
`;

export const NODE: Snippet = {
  language: 'Node.js',
  run: 'node receiver.mjs',
  needs: {},
  code: {
    'hmac-sha256': `// receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

const key = Buffer.from(process.env.WEBHOOK_SECRET.replace('whsec_', ''), 'base64');

function isGenuine(headers, body) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'] ?? '';
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const content = Buffer.concat([Buffer.from(id + '.' + timestamp + '.'), body]);
  const expected = createHmac('sha256', key).update(content).digest();
  return signatures.split(' ').some((signature) => {
    const [version, base64 = ''] = signature.split(',');
    const given = Buffer.from(base64, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
${server}`,
    ed25519: `// receiver.mjs
import { createPublicKey, verify } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

const bytes = Buffer.from(process.env.WEBHOOK_PUBLIC_KEY.replace('whpk_', ''), 'base64');
const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
const key = createPublicKey({ key: jwk, format: 'jwk' });

function isGenuine(headers, body) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'] ?? '';
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const content = Buffer.concat([Buffer.from(id + '.' + timestamp + '.'), body]);
  return signatures.split(' ').some((signature) => {
    const [version, base64 = ''] = signature.split(',');
    return version === 'v1a' && verify(null, content, key, Buffer.from(base64, 'base64'));
  });
}
${server}`,
  },
};
