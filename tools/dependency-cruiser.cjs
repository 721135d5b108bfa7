/**
 * The layers and contexts, by folder; file names do not matter. test/integration/layer-rules.int-spec.ts proves each
 * rule.
 */

/** Every context may use these. */
const BELOW = ['kernel', 'runtime', 'http', 'outbound'];

/** Each library, and the others that it may use. */
const LIBRARIES = {
  kernel: [],
  runtime: ['kernel'],
  http: ['kernel', 'runtime'],
  outbound: ['kernel', 'runtime'],
  identity: BELOW,
  applications: [...BELOW, 'identity'],
  webhooks: [...BELOW, 'identity', 'applications'],
  // Its knowledge of the API is generated from the description.
  client: [],
};

/** Fakes of ports, and contracts for their implementations. The build omits them. */
const FOR_SPECS = '\\.(fake|contract)\\.ts$';

const CONTEXTS = Object.keys(LIBRARIES).filter((name) => ![...BELOW, 'client'].includes(name));

const whatEachMayUse = Object.entries(LIBRARIES).map(([library, others]) => ({
  name: `what-${library}-may-use`,
  severity: 'error',
  from: { path: `^libs/${library}/` },
  to: { path: `^libs/(?!(${[library, ...others].join('|')})/)` },
}));

/** The rooms of a large library; each may use those before it. */
const ROOMS = {
  webhooks: [
    'event-kinds',
    'partitions',
    'activity',
    'queue',
    'subscriptions',
    'deliveries',
    'statistics',
    'sending',
    'replays',
    'recoveries',
    'erasures',
    'closings',
    'events',
    'stream',
    'retention',
    'overview',
    'schema',
  ],
};

const whatEachRoomMayUse = Object.entries(ROOMS).flatMap(([library, rooms]) =>
  rooms.map((room, index) => ({
    name: `what-${room}-may-use`,
    severity: 'error',
    from: { path: `^libs/${library}/src/${room}/` },
    to: {
      path: `^libs/${library}/src/(?!(${rooms.slice(0, index + 1).join('|')})/)`,
    },
  })),
);

/** Of a room, others may use its domain and what is beside its layers; the rest is behind its door. */
const doorsOfRooms = Object.entries(ROOMS).map(([library, rooms]) => ({
  name: `doors-of-rooms-of-${library}`,
  severity: 'error',
  from: { path: `^libs/${library}/src/(${rooms.join('|')})/`, pathNot: 'spec\\.ts$' },
  to: {
    path: `^libs/${library}/src/(${rooms.join('|')})/(http|infrastructure)/`,
    pathNot: `^libs/${library}/src/$1/`,
  },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          'spec\\.ts$',
          '/main\\.tsx?$',
          '/vite\\.config\\.mjs$',
          // Pages load it.
          '^apps/docs/src/theme\\.ts$',
          '^test/',
        ],
      },
      to: {},
    },
    {
      name: 'domain-imports-no-layer',
      comment: 'http -> domain <- infrastructure',
      severity: 'error',
      from: { path: '^libs/[^/]+/.+/domain/' },
      to: { path: '^libs/[^/]+/.+/(http|infrastructure)/' },
    },
    {
      name: 'domain-knows-the-kernel-and-domains-alone',
      severity: 'error',
      from: { path: '^libs/([^/]+)/.+/domain/', pathNot: 'spec\\.ts$' },
      to: {
        path: '^libs/',
        pathNot: `^libs/(kernel/|(${CONTEXTS.join('|')})/.+/domain/|$1/.+/(http|infrastructure)/)`,
      },
    },
    {
      name: 'domain-needs-no-store-and-no-framework',
      comment: 'its tests load none of them',
      severity: 'error',
      from: { path: '^libs/[^/]+/.+/domain/', pathNot: 'spec\\.ts$' },
      to: { path: '^node_modules/(pg|typeorm|ioredis|bull|express|zod)/', reachable: true },
    },
    {
      name: 'http-imports-no-infrastructure',
      severity: 'error',
      from: { path: '^libs/[^/]+/.+/http/', pathNot: '\\.module\\.ts$' },
      to: { path: '^libs/[^/]+/.+/infrastructure/' },
    },
    {
      name: 'infrastructure-imports-no-http',
      severity: 'error',
      from: { path: '^libs/[^/]+/.+/infrastructure/' },
      to: { path: '^libs/[^/]+/.+/http/' },
    },
    {
      name: 'contexts-through-their-index',
      severity: 'error',
      from: { path: '^libs/([^/]+)/' },
      to: {
        path: '^libs/',
        pathNot: [
          '^libs/$1/',
          '^libs/[^/]+/src/((domain|http|config|cluster)/)?index\\.ts$',
          // The next rule covers specs.
          FOR_SPECS,
        ],
      },
    },
    {
      name: 'fakes-and-contracts-for-specs-alone',
      severity: 'error',
      from: { pathNot: ['spec\\.ts$', FOR_SPECS] },
      to: { path: FOR_SPECS },
    },
    {
      name: 'apps-through-the-index',
      severity: 'error',
      from: { path: '^apps/' },
      to: {
        path: '^libs/',
        pathNot: '^libs/[^/]+/src/((domain|http|config|cluster)/)?index\\.ts$',
      },
    },
    {
      name: 'http-of-a-context-only-in-the-api',
      severity: 'error',
      from: { path: '^apps/(?!api/)' },
      to: { path: '^libs/[^/]+/.+/http/' },
    },
    {
      name: 'http-of-another-context-only-from-http',
      severity: 'error',
      from: { path: '^libs/([^/]+)/', pathNot: '^libs/[^/]+/.+/http/' },
      to: { path: '^libs/[^/]+/.+/http/', pathNot: '^libs/$1/' },
    },
    ...whatEachMayUse,
    ...whatEachRoomMayUse,
    ...doorsOfRooms,
    {
      name: 'no-library-without-its-place',
      comment: 'LIBRARIES, above, says what a library may use',
      severity: 'error',
      from: { path: `^libs/(?!(${Object.keys(LIBRARIES).join('|')})/)` },
      to: { path: '^libs/' },
    },
    {
      name: 'client-for-programs-that-call-the-api-alone',
      comment: 'a process does not call itself',
      severity: 'error',
      from: { path: '^apps/(?!(cli|console)/)' },
      to: { path: '^libs/client/' },
    },
    {
      name: 'what-the-console-may-use',
      comment: 'it runs in a browser',
      severity: 'error',
      from: { path: '^apps/console/src/', pathNot: 'spec\\.ts$' },
      to: {
        pathNot: [
          '^apps/console/src/',
          '^libs/client/',
          '(^|/)node_modules/(react|react-dom|@types/react|@types/react-dom|wouter|@tanstack/react-query|uplot|lucide-react|eventsource-parser)/',
        ],
      },
    },
    {
      name: 'libs-know-no-app',
      severity: 'error',
      from: { path: '^libs/', pathNot: 'spec\\.ts$' },
      to: { path: '^(apps|test)/' },
    },
    {
      name: 'specs-of-libs-know-test-support-alone',
      severity: 'error',
      from: { path: '^libs/.+spec\\.ts$' },
      to: { path: '^(apps|test)/', pathNot: '^test/support/' },
    },
    {
      name: 'apps-know-no-app',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^(apps|test)/', pathNot: '^apps/$1/' },
    },
    {
      name: 'tests-through-the-index',
      comment: 'a test of what is inside stands beside it',
      severity: 'error',
      from: { path: '^test/' },
      to: {
        path: '^(apps|libs)/',
        pathNot: [
          '^libs/[^/]+/src/((domain|http|config|cluster)/)?index\\.ts$',
          // The parts of an app.
          '^apps/[^/]+/src/((api|worker)\\.module|context-schemas)\\.ts$',
        ],
      },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types'],
    },
  },
};
