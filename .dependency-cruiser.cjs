// Which folder may import which: two houses and a log. A folder may import those that stand before it in `floors`, and nothing else; the two
// houses know nothing of each other but the log.
const floors = [
  'kit',
  'words',
  'crm',
  'events',
  'redis',
  'log',
  'feed',
  'delivery',
  'ops',
  'config',
  'workers',
  'actions',
  'service',
  'cli',
];
const above = (name) => floors.slice(floors.indexOf(name) + 1);

// Inside the two houses.
const mayImport = {
  'feed/api': [],
  // Pure: of what a process is made of, only the two files that read times.
  'feed/detect': [],
  'feed/store': ['feed/detect'],
  'feed/todos': ['feed/detect', 'feed/store'],
  'feed/list': ['feed/api', 'feed/detect', 'feed/store'],
  'delivery/handlers': [],
};
// Inside list, the loop is above the planner and the decision about one record.
const listMayImport = {
  'feed/list/shortcuts': ['feed/list/aim-queue\\.ts', 'feed/list/shortcuts'],
  'feed/list/decide': ['feed/list/records\\.ts'],
};
// What a person does to deliveries, or asks about them, knows nothing of how they run.
const besides = ['delivery/act', 'delivery/ask'];
// The roles. No role imports another one; `all` runs them together.
const roles = ['poll', 'dispatch', 'handle', 'serve'];
// The roles and the simulated CRM stand beside src.
const folder = (name) => `^${/^(workers|sandbox)\b/.test(name) ? '' : 'src/'}${name}(/|\\.ts$)`;

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...floors.slice(0, -1).map((name) => ({
      name: `${name}-imports-only-what-is-below`,
      severity: 'error',
      from: { path: folder(name) },
      to: { path: above(name).map(folder) },
    })),
    {
      // A snapshot and the comparison with a copy read stored records.
      name: 'delivery-knows-no-feed',
      severity: 'error',
      from: { path: folder('delivery') },
      to: { path: folder('feed'), pathNot: folder('feed/store/(snapshot-source|list-states)') },
    },
    ...Object.entries(mayImport).map(([name, allowed]) => ({
      name: `${name.replace('/', '-')}-imports-only-what-is-below`,
      severity: 'error',
      from: { path: folder(name) },
      to: { path: folder(name.split('/')[0]), pathNot: [name, ...allowed].map(folder) },
    })),
    ...Object.entries(listMayImport).map(([name, allowed]) => ({
      name: `${name.replaceAll('/', '-')}-imports-only-what-is-below`,
      severity: 'error',
      from: { path: folder(name) },
      to: { path: folder('feed/list'), pathNot: allowed.map((one) => `^src/${one}`) },
    })),
    {
      name: 'detect-is-pure',
      severity: 'error',
      from: { path: folder('feed/detect') },
      to: { path: '^src/', pathNot: ['feed/detect', 'crm', 'events', 'kit/(errors|stored-time|iso-time)'].map(folder) },
    },
    ...besides.map((name) => ({
      name: `${name.replace('/', '-')}-knows-no-run`,
      severity: 'error',
      from: { path: folder(name) },
      to: { path: folder('delivery/run') },
    })),
    ...roles.map((name) => ({
      name: `${name}-knows-no-other-role`,
      severity: 'error',
      from: { path: folder(`workers/${name}`) },
      to: { path: roles.filter((one) => one !== name).map((one) => folder(`workers/${one}`)) },
    })),
    {
      name: 'kit-knows-no-redis',
      severity: 'error',
      from: { path: folder('kit') },
      to: { path: 'node_modules/(ioredis|bullmq)/' },
    },
    {
      name: 'the-sandbox-knows-no-product',
      severity: 'error',
      from: { path: folder('sandbox') },
      to: { path: '^(src|workers)/', pathNot: ['kit', 'words', 'crm', 'events', 'ops/server'].map(folder) },
    },
    {
      name: 'only-edges-import-the-sandbox',
      severity: 'error',
      from: { path: '^(src|workers)/', pathNot: ['cli', 'index', 'testing'].map(folder) },
      to: { path: folder('sandbox') },
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
