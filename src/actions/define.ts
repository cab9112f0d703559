/**
 * One definition of what can be asked of a feed, or done about it. From it come the route of the API with its document, role, turn and audit entry
 * (routes.ts), the command with its arguments, options, question and answer (cli/action-command.ts).
 */
import type { z } from 'zod';
import type { Audit } from '../ops/audit.js';
import type { Plain } from '../ops/server/page/answers.js';
import type { Caller } from '../ops/server/http/access.js';
import type { EndpointDeps, PageRules } from '../ops/server/page/source.js';
import type { TodoReports } from '../ops/server/page/todo-reports.js';
import type { Formats } from '../words/format.js';
import type { Words } from '../words/words.js';
import type { Changefeed } from './feed.js';
import type { Sheet } from './sheet.js';

export const NOUNS = [
  'feed',
  'events',
  'subscriptions',
  'dead letters',
  'rules',
  'lists',
  'workspaces',
  'audit',
] as const;

/** The world of every action. */
export interface Acting {
  feed: Changefeed;
  audit: Pick<Audit, 'read'>;
  /** Who acts, as `status` names them; null: nobody is to be named. */
  who: string | null;
  /** A command waits for the end of what takes long, until this aborts. @defaultValue the service does the rest */
  signal?: AbortSignal;
  onProgress?: (count: number) => void;
}

/** A language of people, with its words and its numbers. */
export type Speech = Words & Formats;

/** The world of those that only the page and its API offer. */
export interface ActingOnPage extends Acting {
  page: EndpointDeps & { todos: TodoReports };
  rules: PageRules;
  caller: Caller | null;
  /** Aborts when nobody waits for the answer any more. @defaultValue never */
  gone?: AbortSignal;
}

export interface Action<
  Input extends z.ZodObject = z.ZodObject,
  Answer extends z.ZodType = z.ZodType,
  Needs extends Acting = ActingOnPage,
> {
  /** As commands and the audit call it. */
  readonly name: string;
  readonly id: string;
  readonly on: (typeof NOUNS)[number];
  /** Names with `:` in the path are fields of the input; the others are in the body or the query. */
  readonly route: `${'GET' | 'POST' | 'PUT'} /api/${string}`;
  /** Says what it does, in English and Korean. */
  readonly about: readonly [en: string, ko: string];
  readonly input: Input;
  readonly answer: Answer;
  /** It changes nothing, and who may read may ask it. @defaultValue true of GET, false of POST */
  readonly reads?: boolean;
  /** Everyone may ask it. @defaultValue false */
  readonly open?: true;
  /** A caller of one workspace may ask it: it takes a workspace, or reads no more than the page of that workspace. @defaultValue false */
  readonly ofWorkspace?: true;
  /** The consumer that its path names may do it (`:consumer`), and operators. @defaultValue false */
  readonly consumes?: true;
  /** It is answered while Redis is away too. @defaultValue false */
  readonly offline?: true;
  /** It reads much of the log, or of the stored records. @defaultValue it does not */
  readonly cost?: 'log' | 'records';
  /** Picks what the audit keeps. Null: nothing was decided. @defaultValue the names in the path, and the count of the answer */
  readonly audited?: (answer: z.output<Answer>, input: z.output<Input>) => Readonly<Record<string, unknown>> | null;
  run(input: z.output<Input>, acting: Needs): Promise<Plain<z.output<Answer>>>;
  /** All of what it asks for as a table for a spreadsheet, whatever its `limit`. */
  readonly sheet?: (input: z.output<Input>, acting: Needs) => Sheet | Promise<Sheet>;
  /** Says what came of it; with `dryRun`, what would. An action that has it is a command too. */
  readonly says?: (answer: z.output<Answer>, words: Speech, input: z.output<Input>) => string;
  /** The question of a command before it acts. `found`: the answer with `dryRun`. Null: nothing is lost. */
  readonly confirm?: (found: z.output<Answer>, words: Speech, input: z.output<Input>) => string | null;
  /** The command ends with 1. */
  readonly failed?: (answer: z.output<Answer>, input: z.output<Input>) => boolean;
}

/** An action of the page, its API, and programs. */
export function definePageAction<Input extends z.ZodObject, Answer extends z.ZodType>(
  action: Action<Input, Answer>,
): Action<Input, Answer> {
  return action;
}

/** One that commands have too. */
export function defineAction<Input extends z.ZodObject, Answer extends z.ZodType>(
  action: Action<Input, Answer, Acting>,
): Action<Input, Answer, Acting> {
  return action;
}

export function readsOnly({ route, reads = route.startsWith('GET ') }: Pick<Action, 'route' | 'reads'>): boolean {
  return reads;
}

/** The fields of the input that stand in the path. */
export function namesInPath({ route }: Pick<Action, 'route'>): string[] {
  return [...route.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}
