import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import {
  ConfigMap,
  type IContainer,
  type IPodSpec,
  type IProbe,
  Service,
} from 'kubernetes-models/v1';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { OutboundPolicy } from '#libs/outbound';
import { readConfig } from '#libs/runtime';
import { requireProgram } from '#tools/apt';
import { documentedVariables } from '../support/variables.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MANIFESTS = `${ROOT}tools/kubernetes/`;
/** PostgreSQL's defaults: `max_connections` less `superuser_reserved_connections`. */
const CONNECTIONS = 97;

const MODELS = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  PodMonitor,
  Service,
};
type Kind = keyof typeof MODELS;
type Manifest = { [K in Kind]: InstanceType<(typeof MODELS)[K]> }[Kind];

interface Kustomization {
  namespace?: string;
  resources: string[];
  images?: { name: string }[];
  configMapGenerator?: { name: string; literals: string[] }[];
}

const read = (path: string): string => readFileSync(`${MANIFESTS}${path}`, 'utf8');
const kustomization = (folder: string) =>
  parse(read(`${folder}/kustomization.yaml`)) as Kustomization;
const base = kustomization('base');
const migrate = kustomization('migrate');
const example = kustomization('example');
await requireProgram('kubectl', 'kubernetes-client');
const parseEach = (text: string) =>
  parseAllDocuments(text).map((document) => document.toJS() as { kind: Kind });
const documents = [
  ...['base', 'migrate', 'network'].flatMap((folder) =>
    parseEach(execFileSync('kubectl', ['kustomize', MANIFESTS + folder], { encoding: 'utf8' })),
  ),
  ...example.resources
    .filter((path) => path.endsWith('.yaml'))
    .flatMap((path) => parseEach(read(`example/${path}`))),
];
const manifests = documents as unknown as Manifest[];

function ofKind<K extends Kind>(kind: K): InstanceType<(typeof MODELS)[K]>[] {
  return manifests.filter((manifest) => manifest.kind === kind) as InstanceType<
    (typeof MODELS)[K]
  >[];
}

const deployments = ofKind('Deployment');
const pods = [...deployments, ...ofKind('Job')].map(({ spec }) => spec!.template);
const containers = pods.flatMap((pod) => pod.spec!.containers);
const settingsOf = ({ configMapGenerator }: Kustomization) =>
  new Map(
    configMapGenerator?.[0]?.literals.map((literal) => literal.split('=', 2) as [string, string]),
  );
const settings = settingsOf(base);
const migrateSettings = settingsOf(migrate);
const variables = documentedVariables();

/**
 * The members of an object that `use` never read. The schema of Kubernetes permits members that it
 * does not know, so only this finds a misspelt one.
 */
function unreadMembers(value: object, use: (watched: object) => void): string[] {
  const unread = new Set<string>();
  const watch = (part: object, path: string): object => {
    const children = new Map<string, unknown>();
    for (const [name, child] of Object.entries(part)) {
      const where = `${path}/${name}`;
      unread.add(where);
      const isObject = typeof child === 'object' && child !== null;
      children.set(name, isObject ? watch(child as object, where) : child);
    }
    return new Proxy(part, {
      get: (target, name) => {
        if (typeof name === 'string') unread.delete(`${path}/${name}`);
        return typeof name === 'string' && children.has(name)
          ? children.get(name)
          : (Reflect.get(target, name) as unknown);
      },
    });
  };
  use(watch(value, ''));
  return [...unread];
}

/** Throws if an object breaks the schema of Kubernetes. */
function validate(manifest: object & { kind: Kind }): void {
  MODELS[manifest.kind].prototype.validate.call(manifest);
}

function podOf(name: string): IPodSpec {
  return deployments.find((deployment) => deployment.metadata?.name === name)!.spec!.template.spec!;
}

describe('the Kubernetes manifests', () => {
  it('are all named by a kustomization', () => {
    for (const folder of ['base', 'migrate', 'network', 'example', 'example/migrate']) {
      const files = readdirSync(MANIFESTS + folder, { withFileTypes: true }).filter(
        (entry) => entry.isFile() && entry.name !== 'kustomization.yaml',
      );
      const named = kustomization(folder).resources.filter((path) => path.endsWith('.yaml'));
      expect(files.map(({ name }) => name).sort()).toEqual(named.sort());
    }
    expect(documents).toHaveLength(16);
  });

  it.each(documents.map((document) => [document.kind, document] as const))(
    'match the schema of Kubernetes: %s',
    (_, document) => {
      expect(Object.keys(MODELS)).toContain(document.kind);
      const unread = unreadMembers(document, (watched) => {
        validate(watched as typeof document);
      });
      expect(unread).toEqual([]);
    },
  );

  it('would be rejected with a wrong value or a misspelt member', () => {
    const wrong = { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: 'http' }] } };
    expect(() => validate(wrong as { kind: Kind })).toThrow('port');
    const misspelt = { apiVersion: 'v1', kind: 'Service', spec: { selektor: {} } };
    const unread = unreadMembers(misspelt, (watched) => validate(watched as { kind: Kind }));
    expect(unread).toEqual(['/spec/selektor']);
  });

  it('run only programs that exist', () => {
    for (const { command } of containers) {
      const program = command?.find((word) => word.endsWith('.js')) ?? '';
      expect(existsSync(ROOT + program.replace(/^dist\/(.*)\.js$/, '$1.ts')), program).toBe(true);
    }
  });

  it('probe only paths and ports that exist', () => {
    const routes = [
      ...readFileSync(`${ROOT}libs/http/src/health.module.ts`, 'utf8').matchAll(/@Get\('(\w+)'\)/g),
    ].map(([, name]) => `/health/${String(name)}`);
    const portOf = (container: IContainer, probe: IProbe | undefined) =>
      container.ports?.find(({ name }) => name === probe?.httpGet?.port)?.containerPort;
    const listensOn = { api: variables.get('PORT'), worker: variables.get('WORKER_PORT') };
    for (const name of ['api', 'worker'] as const) {
      const [container] = podOf(`switchhook-${name}`).containers;
      const { startupProbe, livenessProbe, readinessProbe } = container!;
      for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
        expect(routes).toContain(probe?.httpGet?.path);
        expect(String(portOf(container!, probe))).toBe(listensOn[name]);
      }
      expect(livenessProbe?.httpGet?.path).toBe('/health/live');
      expect(readinessProbe?.httpGet?.path).toBe('/health/ready');
      const metrics = container!.ports?.find((port) => port.name === 'metrics');
      expect(String(metrics?.containerPort)).toBe(settings.get('METRICS_PORT'));
    }
  });

  it('set only variables that exist, and take the others from a secret of their own', () => {
    const given = [...settings.keys(), ...migrateSettings.keys()];
    for (const name of given) expect([...variables.keys()]).toContain(name);
    for (const { name, envFrom } of containers) {
      const secrets = envFrom?.flatMap(({ secretRef }) => secretRef?.name ?? []);
      expect(secrets).toEqual([`switchhook-${name}`]);
    }
  });

  it('let no foreign Service set variables such as WORKER_PORT', () => {
    expect(pods.map(({ spec }) => spec?.enableServiceLinks)).toEqual(pods.map(() => false));
  });

  it('have migrate grant the roles of the other processes their rights', () => {
    const { envFrom } = containers.find(({ name }) => name === 'migrate')!;
    const names = envFrom?.flatMap(({ configMapRef }) => configMapRef?.name ?? []);
    const maps = ofKind('ConfigMap').filter(({ metadata }) => names?.includes(metadata!.name!));
    expect(maps.map(({ data }) => data)).toEqual([
      { DATABASE_API_ROLE: 'switchhook_api', DATABASE_WORKER_ROLE: 'switchhook_worker' },
    ]);
  });

  it('select the pods that they name', () => {
    const labelsOf = (name: string | undefined) =>
      deployments.find((deployment) => deployment.metadata?.name === name)?.spec?.template.metadata
        ?.labels;
    for (const { metadata, spec } of deployments) {
      expect(spec?.selector.matchLabels).toEqual(labelsOf(metadata?.name));
    }
    for (const { metadata, spec } of ofKind('PodDisruptionBudget')) {
      expect(spec?.selector?.matchLabels).toEqual(labelsOf(metadata?.name));
    }
    for (const { metadata, spec } of ofKind('HorizontalPodAutoscaler')) {
      expect(spec.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: metadata?.name });
      expect(labelsOf(metadata?.name)).toBeDefined();
    }
    const [service] = ofKind('Service');
    expect(service?.spec?.selector).toEqual(labelsOf('switchhook-api'));
    const ports = podOf('switchhook-api').containers[0]?.ports?.map(({ name }) => name);
    expect(ports).toContain(service?.spec?.ports?.[0]?.targetPort);
  });

  it('let no process run as root, write to its file system or gain privileges', () => {
    for (const { spec } of pods) {
      expect(spec?.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1_000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(spec?.automountServiceAccountToken).toBe(false);
    }
    for (const { securityContext, resources } of containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(Object.keys(resources?.requests ?? {})).toEqual(['cpu', 'memory']);
      expect(Object.keys(resources?.limits ?? {})).toEqual(['memory']);
    }
  });

  describe('and their network policies', () => {
    const policies = ofKind('NetworkPolicy');
    const policyOf = (name: string) =>
      policies.find(({ metadata }) => metadata?.name === `switchhook-${name}`)!.spec!;
    const blocks = policyOf('worker').egress!.flatMap(({ to = [] }) =>
      to.flatMap(({ ipBlock }) => ipBlock ?? []),
    );

    it('cover all pods, in both directions, with ports that the pods open', () => {
      for (const { metadata, spec } of pods) {
        const component = metadata!.labels!['app.kubernetes.io/component']!;
        const { podSelector, policyTypes, ingress = [] } = policyOf(component);
        expect(podSelector?.matchLabels).toEqual(metadata!.labels);
        expect(policyTypes).toEqual(['Ingress', 'Egress']);
        const ports = spec!.containers[0]!.ports?.map(({ name }) => name);
        for (const { port } of ingress.flatMap((rule) => rule.ports ?? [])) {
          expect(ports).toContain(port);
        }
      }
    });

    it('let only the ingress controller and Prometheus reach the processes', () => {
      const opened = (name: string) =>
        policyOf(name).ingress?.map(({ from, ports }) => [
          from?.map((peer) => peer.namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name']),
          ports?.map(({ port }) => port),
        ]);
      const scraped = [['monitoring'], ['metrics']];
      expect(opened('api')).toEqual([[['ingress-nginx'], ['http']], scraped]);
      expect(opened('worker')).toEqual([scraped]);
    });

    it('let only pods of Switchhook reach the stores', () => {
      const { ingress = [] } = policyOf('stores');
      const from = ingress.map(({ from: peers }) =>
        peers?.map((peer) => peer.podSelector?.matchLabels),
      );
      expect(from).toEqual([
        [{ 'app.kubernetes.io/name': 'switchhook' }, { 'switchhook/store': 'true' }],
      ]);
    });

    it.each([
      ...['10.96.0.1', '172.20.0.9', '192.168.1.1', '100.64.0.1', '169.254.169.254', '127.0.0.1'],
      ...['168.63.129.16', '0.0.0.0', '224.0.0.1', '255.255.255.255', 'fd00::1', 'fe80::1', '::1'],
    ])('let no worker reach %s, which the worker itself refuses too', (address) => {
      expect(isReached(address)).toBe(false);
      const policy = new OutboundPolicy(readConfig({ DATABASE_URL: 'postgres://unused' }));
      expect(policy.allowsAddress(address)).toBe(false);
    });

    it.each(['93.184.215.14', '172.32.0.1', '2606:4700::1111'])(
      'let workers reach %s',
      (address) => {
        expect(isReached(address)).toBe(true);
      },
    );

    function isReached(address: string): boolean {
      const isIn = (cidr: string) => {
        const ip = ipaddr.parse(address);
        const network = ipaddr.parseCIDR(cidr);
        return ip.kind() === network[0].kind() && ip.match(network);
      };
      return blocks.some(({ cidr, except = [] }) => isIn(cidr) && !except.some(isIn));
    }
  });

  it('give a stopping worker enough time to finish its attempts', () => {
    expect(podOf('switchhook-worker').terminationGracePeriodSeconds).toBeGreaterThanOrEqual(30);
  });

  it('keep a stopping API serving until the Service has removed it, and let it finish its answers', () => {
    const { containers: asked, terminationGracePeriodSeconds } = podOf('switchhook-api');
    const [, seconds] = asked[0]?.lifecycle?.preStop?.exec?.command ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(5);
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(30);
  });

  it('scale the worker on a metric that exists', () => {
    const [metric] = ofKind('HorizontalPodAutoscaler').flatMap(({ spec }) =>
      (spec.metrics ?? []).flatMap(({ pods: ofPods }) => ofPods?.metric.name ?? []),
    );
    const sources = readdirSync(`${ROOT}libs`, { recursive: true }).map(String);
    const declares = (path: string) =>
      path.endsWith('.ts') && readFileSync(`${ROOT}libs/${path}`, 'utf8').includes(`'${metric!}'`);
    expect(sources.some(declares)).toBe(true);
  });

  describe('of the example', () => {
    const folders = ['example', 'example/migrate'];

    it('are built on folders that exist, and their settings on config maps that exist', () => {
      for (const folder of folders) {
        const { resources, namespace, images } = kustomization(folder);
        for (const path of resources)
          expect(existsSync(`${MANIFESTS}${folder}/${path}`)).toBe(true);
        expect(namespace).toBe('switchhook');
        expect(images?.map(({ name }) => name)).toEqual(['switchhook']);
      }
      const generated = base.configMapGenerator?.map(({ name }) => name);
      expect(example.configMapGenerator?.map(({ name }) => name)).toEqual(generated);
      expect([...variables.keys()]).toEqual(
        expect.arrayContaining([...settingsOf(example).keys()]),
      );
    });

    it('lead to a port of the service, and to the metrics of the pods', () => {
      const [ingress] = ofKind('Ingress');
      const [service] = ofKind('Service');
      const backends = ingress?.spec?.rules?.flatMap(({ http }) =>
        http?.paths.map(({ backend }) => backend.service),
      );
      const port = service?.spec?.ports?.[0]?.name;
      expect(backends).toEqual([{ name: service?.metadata?.name, port: { name: port } }]);
      const [monitor] = ofKind('PodMonitor');
      expect(monitor?.spec.podMetricsEndpoints).toMatchObject([{ port: 'metrics' }]);
      for (const { spec } of deployments) {
        const labels = spec?.template.metadata?.labels;
        expect(labels).toMatchObject(monitor?.spec.selector.matchLabels ?? { none: '' });
      }
    });

    it('name the scrape jobs as the alert rules expect', () => {
      const [endpoint] = ofKind('PodMonitor')[0]!.spec.podMetricsEndpoints!;
      const [relabeling, ...others] = endpoint!.relabelings!;
      const label = 'app.kubernetes.io/component';
      expect(others).toEqual([]);
      expect(relabeling).toMatchObject({
        // Prometheus replaces what no name of a label may contain.
        sourceLabels: [`__meta_kubernetes_pod_label_${label.replaceAll(/\W/g, '_')}`],
        targetLabel: 'job',
      });
      const jobs = deployments.map(({ spec }) =>
        relabeling!.replacement!.replace('$1', spec!.template.metadata!.labels![label]!),
      );
      const config = parse(readFileSync(`${ROOT}tools/monitoring/prometheus.yml`, 'utf8')) as {
        scrape_configs: { job_name: string }[];
      };
      expect(jobs).toEqual(config.scrape_configs.map(({ job_name }) => job_name));
      const rules = readFileSync(`${ROOT}tools/monitoring/alerts.yml`, 'utf8');
      const expected = [...rules.matchAll(/\bjob="([^"]+)"/g)].map(([, job]) => job);
      expect(expected).not.toEqual([]);
      expect(jobs).toEqual(expect.arrayContaining(expected));
    });
  });

  it('need no more connections than PostgreSQL allows by default', () => {
    expect([settings.get('API_PROCESSES'), settings.get('WORKER_PROCESSES')]).toEqual(['1', '1']);
    const most = ofKind('HorizontalPodAutoscaler').map(({ spec }) => spec.maxReplicas);
    const surge = deployments.length;
    const ofPods = (most.reduce((sum, count) => sum + count, 0) + surge) * poolSize();
    const [ofMigrate, ofCommandLine] = [2, 2];
    expect(ofPods + ofMigrate + ofCommandLine).toBeLessThanOrEqual(CONNECTIONS);
  });
});

function poolSize(): number {
  return Number(settings.get('DATABASE_POOL_SIZE') ?? variables.get('DATABASE_POOL_SIZE'));
}
