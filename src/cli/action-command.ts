/** Makes a command of an action: its arguments and options, the question, the answer in words or JSON, the exit code and the audit entry. */
import type { Command } from 'commander';
import type { z } from 'zod';
import { readsOnly, type Acting, type Action, type Speech } from '../actions/define.js';
import { entryOf } from '../actions/entry.js';
import { ACTIONS } from '../actions/table.js';
import { usage } from '../kit/errors.js';
import { isoTime, systemClock } from '../kit/clock.js';
import { wordsFor } from '../words/words.js';
import { formatsOf, isConfirmed, say } from './answers.js';
import { defineFeedCommand, flag, type CommandService, type DefineCommand, type Parameter } from './command.js';
import type { Io } from './io.js';
import { writeSheet } from './written-rows.js';
import { isRequired, optionOf, termsOf } from './terms.js';

/** What a command prints by hand. */
interface ByHand<Input extends z.ZodObject, Answer extends z.ZodType> {
  /** `--json` prints these, one a line. */
  rows?: (answer: z.output<Answer>) => readonly object[];
  /** Instead of what the action says. */
  text?: (answer: z.output<Answer>, shown: { input: z.output<Input>; words: Speech; io: Io }) => string;
}

/** They ask nothing of the CRM and of handlers. */
const BY_LAST_VALID: ReadonlySet<string> = new Set([
  ...['dead retry', 'dead drop', 'pause', 'resume', 'skip', 'replay stop', 'subscriptions show'],
  ...['audit', 'held', 'accept', 'discard', 'snooze', 'mute', 'unmute', 'muted', 'resync'],
  ...['invite list', 'invite revoke', 'usage'],
]);

export function commandOf<Input extends z.ZodObject, Answer extends z.ZodType<object>>(
  action: Action<Input, Answer, Acting>,
  { rows, text }: ByHand<Input, Answer> = {},
): DefineCommand {
  const { confirm, says, failed, sheet } = action;
  return defineFeedCommand<Record<string, Parameter<unknown>>>({
    byLastValid: BY_LAST_VALID.has(action.name),
    input: {
      ...termsOf(action),
      ...(confirm && { yes: flag('do not ask') }),
      ...(sheet && { csv: flag('for a spreadsheet') }),
      json: flag(rows ? 'one per line as JSON' : 'print it as JSON'),
    },
    async run({ yes = false, json = false, csv = false, ...given }, service, io) {
      const input = checked(action, given, service);
      const { dryRun } = input as { dryRun?: boolean };
      const { words, ...acting } = actingOf(service, io);
      if (csv === true && sheet) return await writeSheet(await sheet(input, acting), io);
      const print = (found: z.output<Answer>, instead: string | null = null): void => {
        if (json === true && rows) for (const row of rows(found)) io.out(JSON.stringify(row));
        else if (json === true) io.out(JSON.stringify(dryRun === true ? { ...(found as object), dryRun } : found));
        else say(io, text?.(found, { input, words, io }) ?? instead ?? says?.(found, words, input) ?? '');
      };
      const run = async (asked: z.output<Input>): Promise<z.output<Answer>> =>
        (await action.run(asked, acting).finally(acting.end)) as z.output<Answer>;
      if (confirm && (dryRun === true || yes === false)) {
        const found = await run({ ...input, dryRun: true });
        // Without a terminal it is part of an error, and errors are in English.
        const inWords = io.ask === undefined && dryRun !== true ? { ...words, ...wordsFor('en') } : words;
        const what = confirm(found, inWords, input);
        const question = { command: action.name, what: what ?? '', yes: what === null, t: words.t };
        if (dryRun !== true && !(await isConfirmed(question, io))) return 1;
        if (dryRun === true) print(found, what && `${what}. ${words.t('act.unchanged')}`);
        if (dryRun === true) return 0;
      }
      const answered = await run(input);
      if (!readsOnly(action)) await service.decided(entryOf(action, input, answered as object));
      print(answered);
      return failed?.(answered, input) === true ? 1 : 0;
    },
  });
}

type Named = Readonly<Record<string, readonly [about: string, define: DefineCommand]>>;

/** The command of a name, or the commands of a noun: those of the table, and what is printed by hand. */
export function commandsNamed(name: string, byHand: Named = {}): DefineCommand {
  const made = ACTIONS.filter(({ name: own, says }) => says && (own === name || own.startsWith(`${name} `)));
  const all: Named = {
    ...byHand,
    ...Object.fromEntries(
      made.map((action) => [action.name.slice(name.length + 1), [action.about[0], commandOf(action as never)]]),
    ),
  };
  return (command, io, done) => {
    for (const [word, [about, define]] of Object.entries(all))
      define(word === '' ? command : subCommand(command, word, about), io, done);
  };
}

function subCommand(command: Command, word: string, about: string): Command {
  const description = about.replace(/\.$/, '').replace(/^[A-Z]/, (first) => first.toLowerCase());
  return command.helpCommand(false).command(word).description(description);
}

function actingOf({ feed, config }: CommandService, io: Io) {
  const formats = formatsOf(config, io.env, isoTime(systemClock.now()));
  const words = { ...wordsFor(formats.language), ...formats };
  let screen: ReturnType<Io['live']> | undefined;
  return {
    ...{ feed, words, who: null, signal: io.signal },
    audit: { read: (query: Parameters<Acting['audit']['read']>[0]) => feed.audit(query) },
    onProgress(count: number): void {
      if (io.interactive) (screen ??= io.live()).show([words.t('act.progress', { count: words.number(count) })]);
    },
    end: (): void => {
      screen?.end();
      screen = undefined;
    },
  };
}

/** @throws ChangefeedError CF_USAGE naming what is not allowed */
function checked<Input extends z.ZodObject>(
  { name: command, input }: { name: string; input: Input },
  given: Readonly<Record<string, unknown>>,
  { config: { workspaces } }: CommandService,
): z.output<Input> {
  const { list, id } = (given['record'] ?? {}) as { list?: string; id?: string };
  const [only, ...more] = workspaces;
  const asked: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries<z.ZodType>(input.shape)) {
    const value = given[optionOf(field)];
    if (Array.isArray(value) ? value.length > 0 : value !== undefined) asked[field] = value;
    else if (field === 'workspace' && isRequired(schema) && more.length === 0) asked[field] = only?.name;
  }
  const parsed = input.safeParse({ ...asked, ...(id !== undefined && { list, record: id }) });
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const [field] = first?.path ?? [];
  if (field === 'workspace')
    throw usage(`Which workspace? Name one of ${workspaces.map(({ name }) => name).join(', ')} with --workspace.`);
  throw usage(`${command}: ${field === undefined ? '' : `${String(field)}: `}${first?.message ?? 'not allowed'}.`);
}
