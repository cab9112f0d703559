// Which folder of src may import which. Every import that is not listed is an error.
const leaves = ['errors', 'runtime', 'crm', 'events', 'words'];
const mayImport = {
  errors: [],
  runtime: ['errors'],
  redis: ['schema-kit', 'runtime', 'errors'],
  events: ['crm', 'errors', 'words', 'runtime/iso-time', 'runtime/printable'],
  // What people read, in their language: pure, and the page imports it too.
  words: ['runtime/duration'],
  // Shared pieces of zod schemas: durations, numbers, strict objects, addresses, and the sentences of their errors.
  'schema-kit': leaves,
  // The CRM's lists and the one notion of equality: a leaf, so that all folders compare in the same way.
  crm: ['errors'],
  api: ['schema-kit', ...leaves],
  // Of the todos, the types of what a report counts.
  handlers: ['schema-kit', 'redis', 'todos/counts', ...leaves],
  // Pure: of what a process is made of, only the two files that read times.
  detect: ['crm', 'events', 'errors', 'runtime/stored-time', 'runtime/iso-time'],
  config: ['schema-kit', 'handlers', 'detect', ...leaves],
  // What these use of Redis is what state exports: they import its types only (a rule below), and the wiring gives them the stores.
  sweep: ['api', 'detect', 'redis', 'state', ...leaves],
  doctor: ['api', 'handlers', 'schema-kit', 'redis', ...leaves],
  todos: ['detect', 'state', ...leaves],
  dispatch: ['handlers', 'redis', 'state', ...leaves],
  // The status page asks these; it imports their types only (a rule below).
  server: ['observability', 'dispatch', 'todos', 'detect', 'state', ...leaves],
  sandbox: ['server', ...leaves],
  observability: ['api', 'detect', 'dispatch', 'sweep', 'state', 'redis', ...leaves],
  // state stores what the other folders decide; it imports their types only (a rule below).
  state: ['api', 'detect', 'sweep', 'todos', 'dispatch', 'observability', 'server', 'redis', ...leaves],
  // The wiring knows every folder but the command line and the sandbox.
  app: [
    'config',
    'schema-kit',
    'api',
    'sweep',
    'doctor',
    'detect',
    'state',
    'todos',
    'dispatch',
    'handlers',
    'server',
    'observability',
    'redis',
    'workers',
    ...leaves,
  ],
  cli: ['schema-kit', 'handlers', 'app', 'sandbox', 'server', 'config', 'observability', ...leaves],
};
// Inside the wiring, imports go one way: entry (process, changefeed) → reload → workers → workspaces → context.
const appMayImport = {
  context: ['app/telemetry', 'config', 'handlers', 'state', 'observability', 'redis', 'runtime', 'errors'],
  telemetry: ['runtime'],
  presence: ['app/context', 'app/workspaces', 'observability', 'redis', 'state', 'runtime'],
  measured: ['events', 'handlers', 'observability', 'runtime'],
  monitoring: ['app/context', 'workers/all', 'observability', 'server', 'runtime'],
  actors: ['sweep', 'detect', 'state', ...leaves],
  workspaces: [
    'app/actors',
    'app/context',
    'config',
    'api',
    'sweep',
    'detect',
    'todos',
    'dispatch/enrich',
    'state',
    'schema-kit',
    ...leaves,
  ],
  todos: ['app/workspaces', 'handlers', 'todos', 'runtime', 'errors'],
  sweeps: ['app/context', 'app/workspaces', 'crm', 'sweep', 'todos', 'runtime', 'errors'],
  status: [
    'app/context',
    'app/workspaces',
    'workers/dispatch',
    'config',
    'crm',
    'api',
    'sweep',
    'state',
    'observability',
    'runtime',
    'errors',
  ],
  http: [
    'app/context',
    'app/page-token',
    'app/workspaces',
    'config',
    'dispatch',
    'server',
    'observability',
    'state',
    'runtime',
    'errors',
  ],
  inspector: ['app/workspaces', 'crm', 'sweep', 'detect', 'events', 'state', 'runtime'],
  'config-warnings': ['config', 'redis', 'schema-kit', 'crm', 'handlers', 'events', 'runtime'],
  'watch-config': ['config', 'runtime', 'errors'],
  doctor: [
    'app/config-warnings',
    'app/process',
    'app/state-dir',
    'api',
    'config',
    'crm',
    'doctor',
    'redis',
    'runtime',
    'errors',
  ],
  process: [
    ...['app/changefeed', 'app/state-dir', 'app/watch-config'],
    ...['config', 'observability', 'runtime', 'errors'],
  ],
};
// The roles are in workers/. No role imports another one; `all` runs them together.
const workersMayImport = {
  poll: ['app/context', 'app/sweeps', 'app/workspaces', 'config', 'crm', 'sweep', 'todos', 'runtime'],
  dispatch: ['app/context', 'app/workspaces', 'dispatch', 'events', 'handlers', 'state', 'runtime'],
  handle: ['app/context', 'app/measured', 'app/todos', 'app/workspaces', 'dispatch', 'handlers', 'state', 'runtime'],
  serve: ['app/context', 'config', 'crm', 'server', 'detect', 'state', 'runtime'],
  all: ['workers', 'app/context', 'app/workspaces', 'runtime'],
};
// Inside sweep, what one walk does is above what it shares with shortcuts.
const sweepMayImport = {
  'sweep/walk': ['sweep'],
  'sweep/shortcuts': ['sweep/[^/]+\\.ts', 'sweep/shortcuts', 'sweep/classify', 'sweep/guards'],
  'sweep/classify': ['sweep/[^/]+\\.ts', 'sweep/classify', 'sweep/guards'],
  'sweep/guards': ['sweep/[^/]+\\.ts', 'sweep/guards'],
};
// The roles and the simulated CRM stand beside src.
const folder = (name) => `^${/^(workers|sandbox)\b/.test(name) ? '' : 'src/'}${name}(/|\\.ts$)`;

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...Object.entries(mayImport).map(([name, allowed]) => ({
      name: `${name}-imports-only-its-ports`,
      severity: 'error',
      from: { path: folder(name) },
      to: { path: '^(src|workers|sandbox)/', pathNot: [folder(name), ...allowed.map(folder)] },
    })),
    ...Object.entries(appMayImport).map(([name, allowed]) => ({
      name: `app-${name.replace('/', '-')}-imports-what-it-wires`,
      severity: 'error',
      from: { path: folder(`app/${name}`) },
      to: { path: '^(src|workers)/', pathNot: allowed.map(folder) },
    })),
    ...Object.entries(sweepMayImport).map(([name, allowed]) => ({
      name: `${name.replace('/', '-')}-imports-only-what-is-below`,
      severity: 'error',
      from: { path: `^src/${name}/` },
      to: { path: '^src/sweep/', pathNot: allowed.map((one) => `^src/${one}`) },
    })),
    {
      name: 'runtime-knows-no-redis',
      severity: 'error',
      from: { path: folder('runtime') },
      to: { path: 'node_modules/(ioredis|bullmq)/' },
    },
    ...Object.entries(workersMayImport).map(([name, allowed]) => ({
      name: `workers-${name}-imports-what-it-wires`,
      severity: 'error',
      from: { path: folder(`workers/${name}`) },
      to: { path: '^(src|workers)/', pathNot: allowed.map(folder) },
    })),
    {
      name: 'only-the-wiring-imports-the-workers',
      severity: 'error',
      from: { path: '^src/', pathNot: folder('app') },
      to: { path: '^workers/' },
    },
    {
      name: 'only-cli-and-index-import-the-sandbox',
      severity: 'error',
      from: { path: '^(src|workers)/', pathNot: ['cli', 'index'].map(folder) },
      to: { path: folder('sandbox') },
    },
    {
      // A port is the inferred type of its implementation.
      name: 'only-the-wiring-imports-stores',
      severity: 'error',
      from: { path: ['sweep', 'todos', 'dispatch', 'observability', 'server'].map(folder) },
      to: { path: folder('state'), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'state-imports-types-only',
      severity: 'error',
      from: { path: folder('state') },
      to: {
        path: ['api', 'sweep', 'todos', 'dispatch', 'observability', 'server'].map(folder),
        // Schemas of stored values, from which the types on both sides are inferred.
        pathNot: ['dispatch/backfill-task', 'sweep/store', 'sweep/shortcuts/store', 'observability/status'].map(folder),
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'observability-imports-types-only',
      severity: 'error',
      from: { path: folder('observability') },
      to: {
        path: ['api', 'dispatch', 'sweep'].map(folder),
        // The schemas of which the status is made.
        pathNot: ['dispatch/subscription-status', 'sweep/store'].map(folder),
        dependencyTypesNot: ['type-only', 'npm-peer'],
      },
    },
    {
      name: 'server-imports-types-only',
      severity: 'error',
      from: { path: folder('server') },
      to: {
        path: ['observability', 'dispatch', 'todos', 'detect'].map(folder),
        // The schemas of which answers and their types are made.
        pathNot: [
          'todos/counts',
          'observability/status',
          'dispatch/subscription-status',
          'dispatch/tried',
          'dispatch/receipts/delivery-row',
        ].map(folder),
        dependencyTypesNot: ['type-only', 'npm-peer'],
      },
    },
    {
      // The bundle of the page carries no code of the server: of src it may only know what answers look like, and the words.
      name: 'page-imports-types-and-words-only',
      severity: 'error',
      from: { path: '^page/' },
      to: { path: '^(src|workers)/', pathNot: [folder('words')], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'views-of-the-page-do-not-know-each-other',
      severity: 'error',
      from: { path: '^page/views/' },
      to: { path: '^page/(views/|app\\.tsx$|main\\.tsx$)' },
    },
    // What a user installs must find what it imports.
    {
      // Optional peers are development packages too: the tests use them.
      name: 'no-development-packages',
      severity: 'error',
      from: { path: '^(src|workers|sandbox)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'], dependencyTypesNot: ['type-only', 'npm-peer'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
