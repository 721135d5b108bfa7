import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';

/** Only the end of the header is read, which has room for ten proxies and more. Strangers write the rest. */
const MAX_LENGTH = 512;
/** An address with a port, or in brackets: `192.0.2.1:5678`, `[2001:db8::1]:5678`, `[2001:db8::1]`. */
const WITH_PORT = /^(?:\[(.*)\]|([^:]*))(?::\d{1,5})?$/;

/**
 * Rewrites `X-Forwarded-For`, so that Express, which does not know ports, gets addresses alone. Entries before one
 * that is no address, such as `unknown`, do not count: the proxy that sent it then stands for the client.
 */
export const readForwardedFor: RequestHandler = ({ headers }, _, next) => {
  const header = headers['x-forwarded-for'];
  if (typeof header === 'string') headers['x-forwarded-for'] = addressesIn(header).join(', ');
  next();
};

function addressesIn(header: string): string[] {
  const entries = header.slice(-MAX_LENGTH).split(',');
  // It may be the end of a longer one.
  if (header.length > MAX_LENGTH) entries.shift();
  const addresses: string[] = [];
  for (const entry of entries.reverse()) {
    const text = entry.trim();
    // A list may have empty elements (RFC 9110, section 5.6.1).
    if (text === '') continue;
    const address = addressIn(text);
    if (address === undefined) break;
    addresses.unshift(address);
  }
  return addresses;
}

/** The address of an entry in canonical form. */
function addressIn(entry: string): string | undefined {
  const [, bracketed, plain] = WITH_PORT.exec(entry) ?? [];
  const address = bracketed ?? plain ?? entry;
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString();
}
