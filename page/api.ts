/** Calls the server of the page: the actions of src/actions, by their names there. */
import type { z } from 'zod';
import type { Form } from '../src/actions/sheet.js';
import type { Table } from '../src/actions/table.js';
import { said } from '../src/words/said.js';
import type { Language } from '../src/words/words.js';
import type { Plain } from '../src/ops/server/page/answers.js';
import routes from './routes.json' with { type: 'json' };

export type Verb = keyof Table;
export type Input<Name extends Verb> = z.input<Table[Name]['input']>;
export type Answered<Name extends Verb> = Plain<z.output<Table[Name]['answer']>>;

/** A delivery without its title, which only the lists of deliveries have. */
export type { DeliveryRow as Attempt } from '../src/delivery/receipts/delivery-row.js';
export type { EventView, ValueView } from '../src/ops/server/page/answers.js';
export type Status = Answered<'readStatus'>;
export type Problem = Status['problems'][number];
export type WorkspaceStatus = Status['workspaces'][number];
export type ListStatus = WorkspaceStatus['lists'][number];
export type Subscription = Status['subscriptions'][number];
export type About = Answered<'readAbout'>;
export type Caller = NonNullable<Answered<'readSession'>['caller']>;
export type History = Answered<'readHistory'>;
export type Delivery = Answered<'listDeliveries'>['deliveries'][number];
export type RulesAnswer = Answered<'listRules'>;
export type RuleValues = Answered<'listValues'>;

/** The state of what a section of the page has asked for. */
export interface SectionProps {
  about: About;
  status: Status | null;
  /** Reads the status again at once, after an action. */
  again: () => void;
  canAct: boolean;
  /** They see one workspace, and no rules. */
  isCustomer: boolean;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Called when an answer says that the session is over. */
let onSignedOut: () => void = () => undefined;
export function whenSignedOut(call: () => void): void {
  onSignedOut = call;
}

declare const answered: unique symbol;
/** A question by its address, with the type of its answer. */
export type Path<Value> = string & { readonly [answered]?: Value };

/** Its address and body: what has no name in the path is in the query of a question. */
function requestOf<Name extends Verb>(verb: Name, input: Input<Name>) {
  const [method = '', route = ''] = routes[verb].split(' ');
  const given = input as Readonly<Record<string, string>>;
  const path = route.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(given[name] ?? ''));
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !`${route}/`.includes(`:${name}/`)));
  return method === 'GET' ? { method, path: pathWith(path, rest) } : { method, path, body: rest };
}

/** The address of a question. */
export function pathOf<Name extends Verb>(question: Name, input: Input<Name>): Path<Answered<Name>> {
  return requestOf(question, input).path;
}

export const ask = <Value>(path: Path<Value>): Promise<Value> => call({ method: 'GET', path });

/** Asks for something, or has it done: `act('skip', { subscription })`. */
export function act<Name extends Verb>(verb: Name, input: Input<Name>): Promise<Answered<Name>> {
  return call(requestOf(verb, input));
}

/** Begins a session, or ends it. */
export const signIn = (token: string): Promise<unknown> =>
  call({ method: 'POST', path: '/api/session', body: { token } });
export const signOut = (): Promise<unknown> => call({ method: 'DELETE', path: '/api/session', body: {} });

export function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : '';
}

export function pathWith(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given as [string, string][]).toString()}`;
}

/** The page may be mounted under a path of another server: everything it asks for is beside it. */
export const beside = (path: string): string => `.${path}`;

/** A question that is never answered would keep its section as it is. Actions may take longer. */
const ANSWER_WITHIN_MS = 30_000;

interface Request {
  method: string;
  path: string;
  body?: object;
}

async function call<Answer>(request: Request): Promise<Answer> {
  return JSON.parse(await textOf(request)) as Answer;
}

/** All of an answer as a table. It may take longer than an answer. */
export function sheetOf<Name extends Verb>(verb: Name, input: Input<Name>, accept: Form): Promise<string> {
  return textOf(requestOf(verb, input), accept);
}

async function textOf({ method, path, body }: Request, accept?: Form): Promise<string> {
  const send = (): Promise<Response> =>
    fetch(beside(path), {
      method,
      ...(method === 'GET' && !accept && { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }),
      headers: {
        ...(accept && { accept }),
        ...(body && { 'content-type': 'application/json', 'x-changefeed-action': '1' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const answer = await untilRestarted(send).catch(() => {
    throw new ApiError(0, inWords('The service did not answer. Try again in a moment.'));
  });
  const text = await answer.text();
  if (answer.ok) return text;
  if (answer.status === 401) onSignedOut();
  throw new ApiError(answer.status, inWords(messageIn(text) ?? answer.statusText));
}

/** In which failures are said. */
let language: Language = 'en';
export function speak(one: Language): void {
  language = one;
}
const inWords = (text: string): string => said(text, language);

const AGAIN_MS = 500;
const LONGEST_RESTART_MS = 60_000;

/** Dispatches `change` when the service begins to apply another configuration, and when it has. */
export const restart = Object.assign(new EventTarget(), { isUnderWay: false });

function noteRestart(isUnderWay: boolean): void {
  if (restart.isUnderWay === isUnderWay) return;
  restart.isUnderWay = isUnderWay;
  restart.dispatchEvent(new Event('change'));
}

/** The answer says that nothing was done, so an action may be sent again as well. */
async function untilRestarted(send: () => Promise<Response>): Promise<Response> {
  const untilMs = performance.now() + LONGEST_RESTART_MS;
  for (;;) {
    const answer = await send();
    const isRestarting = answer.headers.has('x-changefeed-restarting');
    noteRestart(isRestarting);
    if (!isRestarting || performance.now() > untilMs) return answer;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

function messageIn(text: string): string | null {
  try {
    return (JSON.parse(text) as { error?: { message?: string } }).error?.message ?? null;
  } catch {
    return null;
  }
}
