/**
 * Generates docs/configuration.md: meaning and default come from the comments in the schemas, the allowed values from the
 * error message of the option.
 */
import { parseConfig } from '../../src/config/parse.js';
import type { Config } from '../../src/config/schema.js';
import { descriptorOf, LIST_NAMES } from '../../src/crm/lists/lists.js';
import { LOG_LEVELS } from '../../src/ops/log.js';
import { table } from './markdown.js';
import { optionDocs, type OptionDoc } from './options.js';

type Json = Record<string, unknown>;

export interface Section {
  title: string;
  text?: string;
  name: string;
  /** @defaultValue all */
  only?: readonly string[];
  around: (options: Json) => Json;
}

const WORKSPACE = { name: 'acme', baseUrl: 'https://crm.example/api', token: 'token' };
const NDJSON = { handler: 'ndjson', name: 'out' };
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const WEBHOOK = { handler: 'webhook', name: 'ops', url: 'https://ops.example/hooks', secret: SECRET };
const POSTGRES = { handler: 'postgres', name: 'mirror', url: 'postgres://db.example/crm' };
const BULLMQ = { handler: 'bullmq', name: 'jobs', queue: 'crm-events', redis: 'redis://jobs.example' };
const PULL = { handler: 'pull', name: 'warehouse' };
const MAIL = {
  handler: 'email',
  name: 'mail',
  server: 'smtp://mail.example',
  sender: 'crm@acme.example',
  to: 'sales@acme.example',
};
const CHAT = { handler: 'message', name: 'chat', url: 'https://chat.example/hook' };
const whole = (more: Json): Json => ({ workspaces: [WORKSPACE], ...more });
const workspace = (more: Json): Json => ({ workspaces: [{ ...WORKSPACE, ...more }] });
const subscription = (base: Json, more: Json): Json => whole({ subscriptions: [{ ...base, ...more }] });
const guard = (option: string, name: string): Section => ({
  title: `\`workspaces[].lists.<list>.${option}\``,
  name,
  around: (given) => workspace({ lists: { people: { [option]: given } } }),
});

const SUBSCRIPTIONS =
  'Shared by all handlers. In code they are passed to `defineHandler({ … })`, `webhook({ … })` and so on; as data they are written next to `"handler": "webhook"`. [handlers.md](handlers.md) says what each handler guarantees.';

export const SECTIONS: readonly Section[] = [
  { title: 'The whole', name: 'configSchema', around: whole },
  {
    title: '`people.<name or id>`',
    text: 'Where one person is reached. [guides/chat.md](guides/chat.md#the-person-in-charge) says what for.',
    name: 'personOptions',
    around: (person) => whole({ people: { 김담당: person } }),
  },
  { title: '`workspaces[]`', name: 'workspaceOptions', around: workspace },
  {
    title: '`workspaces[].budget`',
    text: 'One budget per workspace, shared by all processes. No window ever holds more than the limit; a tenth of it may be sent at once. While the API refuses requests, less is used: see [operations.md](operations.md#too-many-requests-or-too-slow).',
    name: 'budgetOptions',
    around: (budget) => workspace({ budget }),
  },
  {
    title: '`workspaces[].history`',
    text: '`false` keeps no history. [guides/history.md](guides/history.md) says what it is good for, and what it costs.',
    name: 'historyOptions',
    around: (history) => workspace({ history }),
  },
  {
    title: '`workspaces[].todos`',
    text: 'The events of the monitor are described in [guides/todos.md](guides/todos.md#when-an-event-comes).',
    name: 'todosOptions',
    around: (todos) => workspace({ todos }),
  },
  {
    title: '`workspaces[].lists.<list>`',
    text: listsText(),
    name: 'listOptions',
    around: (people) => workspace({ lists: { people } }),
  },
  guard('removals', 'removalOptions'),
  guard('creations', 'creationOptions'),
  {
    title: '`subscriptions[]`',
    text: SUBSCRIPTIONS,
    name: 'subscriptionShape',
    around: (more) => subscription(NDJSON, more),
  },
  {
    title: '`subscriptions[].retry`',
    text: 'The error that a handler throws can overrule it: `RetryAfterError` waits for the time it names, `PermanentError` makes a dead letter at once.',
    name: 'retryOptions',
    around: (retry) => subscription(NDJSON, { retry }),
  },
  {
    title: '`subscriptions[].settle`',
    text: 'A duration alone is short for `{ still }`. [delivery.md](delivery.md#settle-the-outcome-not-each-keystroke) says which changes are merged.',
    name: 'settleOptions',
    around: (settle) => subscription(NDJSON, { settle: { still: '30s', ...settle } }),
  },
  {
    title: '`subscriptions[].unchanged`',
    text: '[guides/unchanged.md](guides/unchanged.md) says when it is due.',
    name: 'unchangedOptions',
    around: (unchanged) =>
      subscription(NDJSON, { on: ['crm.todo.unchanged'], unchanged: { for: '14d', ...unchanged } }),
  },
  {
    title: 'Options of `webhook`',
    text: 'Signed as [Standard Webhooks](https://www.standardwebhooks.com) specifies.',
    name: 'webhookOptions',
    around: (more) => subscription(WEBHOOK, more),
  },
  {
    title: 'Options of `webhook` and `message`',
    name: 'endpointShape',
    around: (more) => subscription(WEBHOOK, more),
  },
  {
    title: 'Options of `webhook` and `message`: `rate`',
    name: 'rateOptions',
    around: (rate) => subscription(WEBHOOK, { rate: { requests: 10, ...rate } }),
  },
  {
    title: 'Options of `message`',
    name: 'messageOptions',
    around: (more) => subscription(CHAT, more),
  },
  {
    title: 'Options of `message` and `todoReport`',
    name: 'chatShape',
    around: (more) => subscription(CHAT, more),
  },
  {
    title: 'Options of `message` about records',
    name: 'aboutShape',
    around: (more) => subscription(CHAT, more),
  },
  {
    title: 'Options of `email`',
    text: 'Also `allowHosts`, `rate` (one delivery per second; a digest to several people is one), and `disableAfter`, as of `webhook`.',
    name: 'mailShape',
    only: ['server', 'sender', 'to'],
    around: (more) => subscription(MAIL, more),
  },
  {
    title: "Options of `email` and `message`: `to: 'person-in-charge'`",
    name: 'otherwiseShape',
    around: (more) => subscription({ ...MAIL, to: 'person-in-charge' }, more),
  },
  {
    title: 'More options of `email`',
    name: 'emailOptions',
    around: (more) => subscription(MAIL, more),
  },
  {
    title: 'Options of `message`: buttons in Slack',
    text: '[Quiet about a record](guides/chat.md#quiet-about-a-record) says how the app is made.',
    name: 'buttonShape',
    around: (more) => subscription(CHAT, more),
  },
  {
    title: 'Options of `message`: `digest`',
    text: 'A handler in code with `handleDigest` has it too. [delivery.md](delivery.md#digests) says what is guaranteed.',
    name: 'digestOptions',
    around: (digest) => subscription(CHAT, { digest: 'at' in digest ? digest : { every: '1h', ...digest } }),
  },
  {
    title: 'Options of `todoReport`',
    text: 'Besides `name`, `workspaces`, `language`, `retry`, `timeout`, and `url`, `allowHosts`, `disableAfter` of `message`.',
    name: 'reportOptions',
    only: ['at', 'days', 'per'],
    around: (more) => subscription({ ...CHAT, handler: 'todoReport', at: '09:00' }, more),
  },
  {
    title: 'Options of `postgres`',
    name: 'postgresOptions',
    around: (more) => subscription(POSTGRES, more),
  },
  {
    title: 'Options of `bullmq`',
    name: 'bullmqSchema',
    around: (more) => subscription(BULLMQ, more),
  },
  {
    title: 'Options of `bullmq`: `job`',
    name: 'jobOptions',
    around: (job) => subscription(BULLMQ, { job }),
  },
  {
    title: 'Options of `pull`',
    text: 'A program asks for its events: see [handlers.md](handlers.md#pull).',
    name: 'pullOptions',
    around: (more) => subscription(PULL, more),
  },
  {
    title: 'Options of `ndjson`',
    name: 'ndjsonSchema',
    around: (more) => subscription(NDJSON, more),
  },
  {
    title: '`redis`',
    text: 'A bare URL is short for `{ url }`.',
    name: 'redisOptions',
    around: (redis) => whole({ redis }),
  },
  {
    title: '`redis.options`',
    name: 'redisConnectionOptions',
    around: (options) => whole({ redis: { options } }),
  },
  {
    title: '`log.retention`',
    text: 'Events that a subscription has not read yet are always kept.',
    name: 'logRetentionOptions',
    around: (retention) => whole({ log: { retention } }),
  },
  {
    title: '`serve`',
    name: 'serveOptions',
    around: (serve) => whole({ serve: { token: 'served-to-others', ...serve } }),
  },

  {
    title: '`http`',
    text: 'The HTTP server of a process, which serves the [status page](status-page.md) and its API.',
    name: 'httpOptions',
    around: (http) => whole({ http }),
  },
  {
    title: '`http.tokens`',
    name: 'httpTokenOptions',
    around: (tokens) => whole({ http: { tokens } }),
  },
  {
    title: '`http.trustedProxy`',
    name: 'proxyOptions',
    around: (proxy) => whole({ http: { trustedProxy: { from: ['127.0.0.1'], ...proxy } } }),
  },
  {
    title: '`deadLetters.retention`',
    name: 'deadLetterRetentionOptions',
    around: (retention) => whole({ deadLetters: { retention } }),
  },
  {
    title: '`audit`',
    name: 'auditOptions',
    around: (audit) => whole({ audit }),
  },
];

const HANDLERS = [
  ...['webhook', 'message', 'email', 'bullmq', 'ndjson', 'postgres', 'pull'].map((kind) => `${kind}/${kind}.ts`),
  'message/chat.ts',
  'message/clicks.ts',
  'message/todo-report.ts',
  'people.ts',
  'recipients.ts',
].map((file) => `delivery/handlers/${file}`);
const SHARED = [
  'config/schema.ts',
  'config/workspace-options.ts',
  'config/workspace-options.ts',
  'config/redis.ts',
  'config/servers.ts',
  'delivery/handlers/options.ts',
  'delivery/handlers/digest.ts',
  'delivery/handlers/http/endpoint.ts',
];

export const docsOf = ({ name, only }: Section): OptionDoc[] =>
  optionDocs([...SHARED, ...HANDLERS], name).filter((doc) => only?.includes(doc.name) ?? true);
export const read = (raw: Json): Config => parseConfig(raw, { source: 'the reference' });

/** The allowed values, from the error message for a bigint, which no option accepts. */
export function allowedBy({ around }: Section, { name }: OptionDoc): string {
  try {
    read(around({ [name]: 1n }));
  } catch (error) {
    const said = /found a bigint; allowed: ([^]*?)\.(?: If it comes from [^.]*\.| \(\d+ more[^)]*\))?$/.exec(
      (error as Error).message,
    );
    if (said?.[1] !== undefined) return said[1];
    throw new Error(`${name}: the complaint does not say what is allowed: ${(error as Error).message}`);
  }
  throw new Error(`${name}: a big integer was accepted`);
}

export function configurationPage(): string {
  return [HEAD, ENVIRONMENT, ...SECTIONS.map(sectionText), CODE_ONLY].join('\n\n') + '\n';
}

function sectionText(section: Section): string {
  const rows = docsOf(section).map((doc) => {
    const allowed = allowedBy(section, doc);
    return [`\`${doc.name}\``, doc.meaning, allowed, fallback(doc, allowed)];
  });
  const parts = [`## ${section.title}`, section.text, table(['option', 'meaning', 'allowed', 'default'], rows)];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

function fallback({ required, defaultValue }: OptionDoc, allowed: string): string {
  if (required) return '**required**';
  return defaultValue === '' && isObject(allowed) ? 'see its own section' : code(defaultValue);
}

/** Options that are objects of options have no default of their own. */
export function isObject(allowed: string): boolean {
  return allowed.startsWith('an object ');
}

function code(text: string): string {
  return text.replace(/'[^']*'|\['[^']*'\]|\b\d+(?:\.\d+)?\b|\b(?:true|false|null)\b/g, (value) => `\`${value}\``);
}

function listsText(): string {
  const rows = LIST_NAMES.map((list) => [`\`${list}\``, `\`${descriptorOf(list).path.slice('v2/'.length)}\``]);
  return `Without \`interval\`, a list is swept all the time, as fast as the budget allows; [operations.md](operations.md#too-many-requests-or-too-slow) says how the lists share it.\n\n${table(['list', 'path'], rows)}`;
}

const HEAD = `# Configuration

\`changefeed.config.ts\` (or \`.mts\`, \`.js\`, \`.mjs\`, \`.json\`) in the working directory; \`--config\` or \`CHANGEFEED_CONFIG\` names
another file. In code it is \`export default defineConfig({ … })\`; in JSON, \`\${NAME}\` in a string is replaced from the
environment. Durations are texts with a unit: \`'250ms'\`, \`'30s'\`, \`'15m'\`, \`'12h'\`, \`'7d'\`. An error message names the path of a
wrong option, what was found and what is allowed, for all wrong options at once. Nothing is ignored silently.

A valid configuration can still ask for something that cannot happen. \`start\` and \`sweep\` log a warning with reason and remedy for a subscription whose \`on\` selects no event of its \`lists\` and \`workspaces\`, or only events of disabled lists, a workspace without an enabled list, two workspaces with one address and token, a mirror of lists that are disabled or of which only keys are stored, and watched todos of a disabled list.

Without a file, \`CHANGEFEED_BASE_URL\` and \`CHANGEFEED_TOKEN\` are enough: one workspace \`default\`, its events as lines of JSON
on standard output.`;

const ENVIRONMENT = `## The environment

${table(
  ['variable', 'meaning', 'default'],
  [
    ['`REDIS_URL`', 'The Redis to use; wins over the configuration.', 'a private one, see `CHANGEFEED_STATE_DIR`'],
    ['`CHANGEFEED_BASE_URL`', 'Where there is no file: what stands before `/v2`.', ''],
    ['`CHANGEFEED_TOKEN`', 'Where there is no file: the API token.', ''],
    [
      '`CHANGEFEED_HTTP_HOST`, `CHANGEFEED_HTTP_PORT`',
      'Where the status page listens; they win over `http.host` and `http.port`.',
      '',
    ],
    ['`CHANGEFEED_KEY`', 'Seals the tokens of [workspaces that come at run time](workspaces.md); wins over `key`.', ''],
    ['`CHANGEFEED_HTTP_TOKEN`', 'Opens the page, and may act; wins over `http.tokens.operate`.', ''],
    ['`CHANGEFEED_WEBHOOK_SECRET`', 'Signs what `listen` and `demo` forward.', 'a new one each time'],
    ['`CHANGEFEED_CONFIG`', 'The configuration file.', '`changefeed.config.*` in the working directory'],
    [
      '`CHANGEFEED_STATE_DIR`',
      'Where a private Redis keeps its data.',
      "`.changefeed` in a project's folder, else `changefeed` in the user's state directory (without a file: a folder in it for each base URL)",
    ],
    [
      '`LOG_LEVEL`',
      `${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}. With \`debug\`, errors show their stack.`,
      '`info`; `warn` for commands a person waits for',
    ],
    ['`NO_COLOR`, `FORCE_COLOR`', 'No colours, or colours where there is no terminal.', 'colours on a terminal'],
  ],
)}

A secret may be in a file: \`REDIS_URL_FILE\`, \`CHANGEFEED_TOKEN_FILE\`, \`CHANGEFEED_HTTP_TOKEN_FILE\`, and \`<NAME>_FILE\` for every variable that a configuration
names (\`\${NAME}\`, \`env('NAME')\`) has the path of a file with the value, as Docker and Kubernetes mount secrets. \`<NAME>\` itself wins. A changed file is
read at the next start.`;

const CODE_ONLY = `## Options of \`defineHandler\`

In addition to the options of every subscription; only in a file in code.

${table(
  ['option', 'meaning', 'allowed', 'default'],
  optionDocs('delivery/handlers/define.ts', 'HandlerOptions')
    .filter(({ name }) => !['on', 'where', 'start'].includes(name))
    .map(({ name, meaning, required }) => [`\`${name}\``, meaning, 'a function', required ? '**required**' : 'none']),
)}`;
