import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readyMadeLists } from '../../crm/lists/lists.js';
import { CONFIG_FILES } from '../../config/load.js';
import { apiToken, baseUrlFault } from '../../kit/schema/addresses.js';
import { NAME } from '../../kit/schema/fields.js';
import { LANGUAGES, type Language } from '../../words/words.js';
import { word, words } from '../arguments.js';
import { asText, defineCommand, flag, option } from '../command.js';
import {
  FORMATS,
  projectFiles,
  refusal,
  TOKEN_VARIABLE,
  tokenIn,
  withLines,
  type Answers,
  type Asked,
} from '../init-files.js';
import { INIT_TEXTS } from '../init-texts.js';
import type { Io } from '../io.js';
import { languageOfTerminal, say } from '../answers.js';

const READY_MADE = readyMadeLists.all.map(({ name }) => name);
const ENV_FILE = '.env';
const SALESMAP = 'https://salesmap.kr/api';

/** Writes the files of a new project. What exists already is never overwritten. */
export const init = defineCommand({
  input: {
    workspace: option('name', 'name of the workspace (default: the name of the folder)', asText),
    baseUrl: option('url', `what stands before /v2 in the addresses of the API (default: ${SALESMAP})`, asText),
    token: option(
      'token',
      'the token of the API, or - to read it from standard input; it is written to .env (default: to be filled in)',
      asText,
    ),
    format: option('format', `language of the configuration: ${FORMATS.join(', ')} (default: ts)`, word(...FORMATS)),
    lists: option('names', `ready-made lists to poll: ${READY_MADE.join(', ')} (default: none)`, words(...READY_MADE)),
    language: option(
      'language',
      `of the comments, and of what people read: ${LANGUAGES.join(', ')} (default: that of the terminal)`,
      word(...LANGUAGES),
    ),
    yes: flag('ask nothing: use the options and the defaults'),
  },
  async run({ yes = false, lists = [], config: _, language: chosen, ...given }, io) {
    const language = chosen ?? languageOfTerminal(io.env);
    const existing = CONFIG_FILES.find((name) => existsSync(join(io.cwd, name)));
    if (existing !== undefined) throw refusal(language, ({ exists }) => [exists(existing)]);
    const questions = questionsFor(io.cwd, INIT_TEXTS[language]);
    if (!yes && io.ask === undefined) throw refusal(language, ({ noTerminal }) => [noTerminal]);
    // As an option it would be in the history of the shell, and other users would see it while the command runs.
    if (given.token === '-') given.token = await io.readInput();
    const texts: Record<string, string> = {};
    for (const [name, question] of Object.entries(questions)) {
      const fixed = given[name as keyof Asked];
      texts[name] =
        fixed === undefined && !yes
          ? await answerOf(question, io, language)
          : checkedOption(name, fixed, question, language);
    }
    const answers = texts as unknown as Asked;
    const all = { ...answers, lists, language };
    say(io, nextSteps(all, writeAll(all, io.cwd), io));
  },
});

interface Question {
  text: string;
  fallback: string;
  /** The end of "allowed: …"; undefined when the answer can be used. */
  allowed: (answer: string) => string | undefined;
  hidden?: boolean;
}

function questionsFor(cwd: string, texts: (typeof INIT_TEXTS)['en']): Record<keyof Asked, Question> {
  const folder = basename(cwd).replace(/[^\w.-]/g, '');
  return {
    workspace: {
      text: texts.askWorkspace,
      fallback: NAME.test(folder) ? folder : 'crm',
      allowed: (answer) => (NAME.test(answer) ? undefined : texts.errors.workspace),
    },
    baseUrl: {
      text: texts.askBaseUrl,
      fallback: SALESMAP,
      allowed: (answer) => {
        const fault = baseUrlFault(answer);
        return fault && texts.errors.baseUrl(fault);
      },
    },
    token: {
      text: texts.askToken,
      fallback: '',
      allowed: (answer) => (answer === '' || apiToken.safeParse(answer).success ? undefined : texts.errors.token),
      hidden: true,
    },
    format: {
      text: texts.askFormat,
      fallback: 'ts',
      allowed: (answer) => (FORMATS.some((format) => format === answer) ? undefined : FORMATS.join(', ')),
    },
  };
}

async function answerOf(
  { text, fallback, allowed, hidden = false }: Question,
  io: Io,
  language: Language,
): Promise<string> {
  for (;;) {
    const hint = fallback === '' ? '' : ` ${io.colours.err.dim(`[${fallback}]`)}`;
    const typed = ((await io.ask?.(`${text}${hint}: `, { hidden })) ?? '').trim();
    const answer = typed === '' ? fallback : typed;
    const wrong = allowed(answer);
    if (wrong === undefined) return answer;
    io.err(`  ${INIT_TEXTS[language].errors.allowed(wrong)}`);
  }
}

function checkedOption(
  name: string,
  given: string | undefined,
  { fallback, allowed }: Question,
  language: Language,
): string {
  const answer = given?.trim() ?? fallback;
  const wrong = allowed(answer);
  if (wrong === undefined) return answer;
  throw refusal(language, (texts) => [texts.allowed(wrong)], `--${name.replace('U', '-u')}`);
}

interface Written {
  name: string;
  outcome: 'written' | 'added to' | 'kept';
}

function writeAll(answers: Answers, cwd: string): Written[] {
  const files = [...projectFiles(answers)].map(([name, content]) => {
    const file = join(cwd, name);
    const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    const text = typeof content === 'string' ? content : withLines(before ?? '', content);
    return { name, file, before, text: before !== undefined && typeof content === 'string' ? undefined : text };
  });
  const env = files.find(({ name }) => name === ENV_FILE)?.text;
  // A quote without end in an earlier line would take the new one in.
  if (answers.token !== '' && env !== undefined && tokenIn(env) !== answers.token)
    throw refusal(answers.language, ({ unread, later }) => [unread, later(TOKEN_VARIABLE)]);
  return files.map(({ name, file, before, text }) => {
    if (text === undefined) return { name, outcome: 'kept' };
    mkdirSync(dirname(file), { recursive: true });
    // Only its owner may read the token; a file that is there already is made so before the token is in it.
    const isPrivate = name === ENV_FILE;
    if (isPrivate && before !== undefined) chmodSync(file, 0o600);
    writeFileSync(file, text, isPrivate ? { mode: 0o600 } : {});
    return { name, outcome: before === undefined ? 'written' : 'added to' };
  });
}

function nextSteps(
  { token, format, language }: Answers,
  written: readonly Written[],
  { cwd, colours: { out } }: Io,
): string {
  const texts = INIT_TEXTS[language];
  const isInstalled = existsSync(join(cwd, 'node_modules', 'crm-changefeed'));
  const handled = format === 'json' ? texts.startJson : texts.startCode;
  const steps = [
    ...(isInstalled ? [] : ['npm install crm-changefeed']),
    ...(token === '' ? [`${texts.writeToken} ${TOKEN_VARIABLE}=…`] : []),
    `npx changefeed sweep   ${texts.sweep}`,
    `npx changefeed start   ${handled}`,
    texts.pageRules(written[0]?.name ?? ''),
    `npx changefeed invite ${texts.colleague}   ${texts.invite}`,
  ];
  return [
    ...written.map(({ name, outcome }) => `${out.dim(texts.outcomes[outcome].padEnd(8))}  ${name}`),
    '',
    texts.next,
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
  ].join('\n');
}
