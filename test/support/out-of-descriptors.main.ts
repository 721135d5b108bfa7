// Calls the given URLs while this process has no free file descriptor, then once more with free ones. Prints the
// outcomes.
import 'reflect-metadata';
import { closeSync, openSync } from 'node:fs';
import { Dialer, NameResolver, OutboundClient, OutboundPolicy } from '#libs/outbound';
import { HostResources, Log, Metrics, readConfig, Tracing } from '#libs/runtime';

const [nameServer = '', ...urls] = process.argv.slice(2);
const config = readConfig({ LOG_LEVEL: 'silent', ...process.env });
const resolver = new NameResolver();
resolver.dns.setServers([nameServer]);
const log = new Log(config, 'test');
const metrics = new Metrics();
const host = new HostResources(metrics, log);
const dialer = new Dialer(resolver, new OutboundPolicy(config), host, log, metrics, config);
const client = new OutboundClient(dialer, new Tracing(), config);

async function outcomeOf(url: string): Promise<unknown> {
  const request = { accountId: '1', url, headers: {}, body: '{}', timeoutMs: 5_000 };
  try {
    const { status, error } = await client.post(request);
    return status ?? error;
  } catch (error) {
    return (error as Error).constructor.name;
  }
}

async function outcomes(): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const url of urls) all.push(await outcomeOf(url));
  return all;
}

// Modules loaded later need files.
await outcomeOf('http://127.0.0.1:1/');
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // No descriptor is left.
}
const short = await outcomes();
for (const descriptor of taken) closeSync(descriptor);
const enough = await outcomes();
process.stdout.write(JSON.stringify({ short, enough }), () => process.exit());
