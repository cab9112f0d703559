// The plan of the house, checked: which room may look into which. Everything not named is forbidden.
const leaves = ['errors', 'runtime', 'events'];
const mayImport = {
  errors: [],
  runtime: ['errors'],
  events: ['errors'],
  // Shared pieces of zod schemas: durations, numbers, strict objects, addresses, and the sentences of their errors.
  'schema-kit': ['errors', 'runtime', 'events'],
  // The CRM's vocabulary and what makes two values equal: a leaf, so that all who compare compare alike.
  crm: ['errors', 'events'],
  api: leaves,
  handlers: ['schema-kit', ...leaves],
  detect: ['crm', 'events', 'errors'],
  config: ['schema-kit', 'handlers', 'detect', ...leaves],
  sweep: ['api', 'crm', 'detect', ...leaves],
  todos: ['crm', 'detect', ...leaves],
  dispatch: ['crm', 'handlers', ...leaves],
  server: ['crm', ...leaves],
  sandbox: ['server', 'crm', ...leaves],
  observability: ['dispatch', 'sweep', ...leaves],
  // state implements the ports of the rooms that need Redis: it sees their types only (a rule below).
  state: ['api', 'crm', 'detect', 'sweep', 'todos', 'dispatch', 'observability', 'server', ...leaves],
  // The wiring knows every folder but the command line and the sandbox.
  app: [
    'config',
    'schema-kit',
    'api',
    'sweep',
    'detect',
    'state',
    'todos',
    'dispatch',
    'handlers',
    'server',
    'observability',
    ...leaves,
  ],
  cli: ['schema-kit', 'app', 'sandbox', 'server', 'config', 'observability', ...leaves],
};
// Inside the wiring, imports go one way: entry (process, changefeed) → reload → roles → workspaces → context. A role imports no other role.
const appMayImport = {
  context: ['config', 'handlers', 'state', 'runtime', 'errors'],
  workspaces: ['app/context', 'config', 'api', 'sweep', 'detect', 'todos', 'state', ...leaves],
  'roles/poll': ['app/context', 'app/workspaces', 'config', 'sweep', 'todos', 'events', 'runtime'],
  'roles/dispatch': ['app/context', 'app/workspaces', 'dispatch', 'handlers', 'state', 'runtime'],
  'roles/handle': ['app/context', 'app/workspaces', 'dispatch', 'handlers', 'state', 'runtime'],
  'roles/serve': ['app/context', 'server', 'detect', 'state', 'runtime'],
  inspector: ['app/workspaces', 'sweep', 'detect', 'events'],
  'config-emissions': ['config', 'detect', 'events'],
  'config-warnings': ['app/config-emissions', 'config', 'dispatch', 'handlers', 'events', 'runtime'],
  reload: ['app/context', 'app/workspaces', 'app/roles', 'app/config-warnings', 'config', 'dispatch'],
  'watch-config': ['app/reload', 'config', 'runtime', 'errors'],
  process: ['app/changefeed', 'app/watch-config', 'config', 'observability', 'runtime', 'errors'],
};
const room = (name) => `^src/${name}(/|\\.ts$)`;

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...Object.entries(mayImport).map(([name, allowed]) => ({
      name: `${name}-looks-only-into-its-ports`,
      severity: 'error',
      from: { path: room(name) },
      to: { path: '^(src|workers)/', pathNot: [room(name), ...allowed.map(room)] },
    })),
    ...Object.entries(appMayImport).map(([name, allowed]) => ({
      name: `app-${name.replace('/', '-')}-imports-what-it-wires`,
      severity: 'error',
      from: { path: room(`app/${name}`) },
      to: { path: '^(src|workers)/', pathNot: allowed.map(room) },
    })),
    {
      name: 'only-cli-and-index-import-the-sandbox',
      severity: 'error',
      from: { path: '^(src|workers)/', pathNot: ['sandbox', 'cli', 'index'].map(room) },
      to: { path: room('sandbox') },
    },
    {
      name: 'state-sees-ports-as-types-only',
      severity: 'error',
      from: { path: room('state') },
      to: {
        path: ['api', 'sweep', 'todos', 'dispatch', 'observability', 'server'].map(room),
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'observability-sees-types-only',
      severity: 'error',
      from: { path: room('observability') },
      to: { path: ['dispatch', 'sweep'].map(room), dependencyTypesNot: ['type-only'] },
    },
    // What a user installs must find what it imports.
    {
      name: 'no-development-packages',
      severity: 'error',
      from: { path: '^(src|workers)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workers-are-entry-points',
      severity: 'error',
      from: { path: '^workers/' },
      to: { path: '^src/', pathNot: ['app', 'config', 'errors', 'runtime', 'observability'].map(room) },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
