import { parseEnv } from 'node:util';
import { normaliseBaseUrl } from '../kit/schema/addresses.js';
import { usage, type ChangefeedError } from '../kit/errors.js';
import type { Language } from '../words/words.js';
import { INIT_TEXTS } from './init-texts.js';

export const FORMATS = ['ts', 'js', 'json'] as const;

export interface Asked {
  format: (typeof FORMATS)[number];
  workspace: string;
  baseUrl: string;
  /** Empty: the user writes it into `.env` later. */
  token: string;
}

/** The lists are an option only: most of them are not known before the API is asked. */
export interface Answers extends Asked {
  lists: readonly string[];
  /** The language of the comments, and of what people read: messages, digests, reports. */
  language: Language;
}

export const TOKEN_VARIABLE = 'CRM_TOKEN';

/** Lines that a file must have. Those it lacks are added at its end; the others stay as they are. */
export interface Line {
  text: string;
  /** Recognises the file that needs no such line. */
  unless: RegExp;
}

/** A text is written only where there is no such file. */
export type ProjectFiles = ReadonlyMap<string, string | readonly Line[]>;

export function projectFiles(given: Answers): ProjectFiles {
  // Nothing in it may end a quoted text, or name a variable in JSON.
  const answers = { ...given, baseUrl: normaliseBaseUrl(given.baseUrl).replaceAll("'", '%27') };
  return new Map<string, string | readonly Line[]>([
    ...(answers.format === 'json' ? jsonFiles(answers) : codeFiles(answers)),
    ['.env', envLines(answers)],
    [
      '.gitignore',
      [
        { text: '.env', unless: /^\/?\.env\*?\s*$/m },
        { text: '.changefeed/', unless: /^\/?\.changefeed\/?\s*$/m },
      ],
    ],
  ]);
}

/** The text of a file with the lines that it lacks; undefined when it lacks none. */
export function withLines(text: string, lines: readonly Line[]): string | undefined {
  const missing = lines.filter(({ unless }) => !unless.test(text)).map((line) => `${line.text}\n`);
  if (missing.length === 0) return undefined;
  return `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${missing.join('')}`;
}

function codeFiles(answers: Answers): [string, string][] {
  // A `.mjs` file is an ES module whatever the project's package.json says.
  const [config, handler, from] =
    answers.format === 'ts'
      ? ['changefeed.config.ts', 'handlers/log-changes.ts', './handlers/log-changes.js']
      : ['changefeed.config.mjs', 'handlers/log-changes.mjs', './handlers/log-changes.mjs'];
  return [
    [config, configText(answers, from)],
    [handler, handlerText(answers)],
  ];
}

function configText({ workspace, baseUrl, lists, language }: Answers, from: string): string {
  const texts = INIT_TEXTS[language];
  const switched =
    lists.length === 0
      ? '// lists: { people_history: true, organization_history: true, deal: true, lead: true, lead_history: true },'
      : `lists: { ${lists.map((list) => `${list}: true`).join(', ')} },`;
  return `import { defineConfig, env } from 'crm-changefeed';
import { logChanges } from '${from}';

export default defineConfig({
  workspaces: [
    {
      // ${texts.name}
      name: '${workspace}',
      // ${texts.baseUrl}
      baseUrl: '${baseUrl}',
      // ${texts.token}
      token: env('${TOKEN_VARIABLE}'),${language === 'en' ? '' : `\n      language: '${language}',`}

      // ${texts.budget}
      // budget: { requests: 80, perSeconds: 10 },

      // ${texts.lists}
      // lists: { history: { enabled: false }, people: { ignore: ['프로필 사진'] } },
      // ${texts.readyMade}
      ${switched}
    },
  ],

  // ${texts.subscriptions}
  subscriptions: [
    logChanges,
    // webhook({ name: 'ops', url: env('HOOK_URL'), secret: env('HOOK_SECRET'), on: ['crm.todo.*'] }),
  ],

  // ${texts.destinations}
  // destinations: { ${texts.chat} },
  // ${texts.rules}
  rules: './changefeed.rules.json',

  // ${texts.redis}
  // redis: 'redis://127.0.0.1:6379',
});
`;
}

function handlerText({ language }: Answers): string {
  const texts = INIT_TEXTS[language];
  return `import { defineHandler } from 'crm-changefeed';

/**
 * ${texts.handler}
 */
export const logChanges = defineHandler({
  name: 'log-changes',
  // ${texts.on}
  on: ['crm.person.updated'],
  handle(event, { log }) {
    log.info({ fields: event.data.changes.map(({ field }) => field) }, '${texts.message}');
    // ${texts.images}
  },
});
`;
}

function jsonFiles({ workspace, baseUrl, lists, language }: Answers): [string, string][] {
  const switched = Object.fromEntries(lists.map((list) => [list, true]));
  const config = {
    $schema: './node_modules/crm-changefeed/changefeed.schema.json',
    workspaces: [
      {
        ...{ name: workspace, baseUrl, token: `\${${TOKEN_VARIABLE}}` },
        ...(language !== 'en' && { language }),
        ...(lists.length > 0 && { lists: switched }),
      },
    ],
    subscriptions: [{ handler: 'ndjson', name: 'events', on: ['crm.*'] }],
    rules: './changefeed.rules.json',
  };
  return [['changefeed.config.json', `${JSON.stringify(config, null, 2)}\n`]];
}

function envLines({ token, language }: Answers): Line[] {
  const unless = new RegExp(`^\\s*(export\\s+)?${TOKEN_VARIABLE}\\s*=`, 'm');
  return [
    { text: `# ${INIT_TEXTS[language].tokenLine}`, unless },
    { text: tokenLine(token, language), unless },
  ];
}

/** A token may have `#`, quotes and backslashes, which mean something in `.env`. */
function tokenLine(token: string, language: Language): string {
  const lines = ['', "'", '"', '`'].map((quote) => `${TOKEN_VARIABLE}=${quote}${token}${quote}`);
  const line = lines.find((text) => tokenIn(text) === token);
  if (line !== undefined) return line;
  throw refusal(language, ({ quotes, later }) => [quotes, later(TOKEN_VARIABLE)]);
}

/** In the language of the terminal, as its questions: who begins knows no other one. */
export function refusal(
  language: Language,
  say: (texts: (typeof INIT_TEXTS)['en']['errors']) => readonly string[],
  what = 'init',
): ChangefeedError {
  const { errors } = INIT_TEXTS[language];
  return usage([`${what}:`, ...say(errors), errors.nothing].join(' '));
}

export const tokenIn = (env: string): string | undefined => parseEnv(env)[TOKEN_VARIABLE];
