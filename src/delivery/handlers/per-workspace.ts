/**
 * Options with `{{workspace.data.<name>}}` in them: one subscription that delivers for each workspace to where its data says. What the data gives is checked as the
 * options are, when it is first delivered for the workspace, and again when the data changes.
 */
import type { WorkspaceOfEvent } from '../../events/pattern.js';
import { ChangefeedError, messageOf } from '../../kit/errors.js';
import { optionsError } from '../../kit/schema/problem.js';
import { isDisabling, PermanentError } from './errors.js';
import type { Subscription } from './handler.js';

const NAMED = /\{\{\s*workspace\.data\.([\w.-]+)\s*\}\}/g;
const MOST_OPEN = 5_000;
const NO_RATE = 'found it with an address of each workspace; allowed: with one address for all';
/** From then on one delivery tries whether the receiver is back; the others of its workspace do not take the place of those of others. */
const FAILURES = 3;

type Options = Readonly<Record<string, unknown>>;

export interface PerWorkspace {
  kind: string;
  options: Options;
  /** The options that name data, by which the rest is checked. */
  example: Options;
  /** @throws ChangefeedError CF_CONFIG_INVALID */
  open: (options: Options) => Subscription;
}

/** Null: none of the options names data. @param examples of the options that may */
export function exampleFor(options: unknown, examples: Options): Options | null {
  const given = Object(options) as Options;
  const named = Object.keys(examples).filter((option) => names(given[option]));
  return named.length === 0 ? null : { ...given, ...Object.fromEntries(named.map((name) => [name, examples[name]])) };
}

function names(value: unknown): boolean {
  if (typeof value === 'string') return value.search(NAMED) !== -1;
  return typeof value === 'object' && value !== null && Object.values(value).some(names);
}

interface Open {
  key: string;
  subscription: Subscription;
  failures: number;
  isTried: boolean;
}

export function openPerWorkspace({ kind, options, example, open }: PerWorkspace): Subscription {
  const { destination: _, address: _address, ping: _ping, reach: _reach, ...base } = open(example);
  const who = `${kind.charAt(0).toUpperCase()}${kind.slice(1)} "${base.name}"`;
  if (base.rate !== undefined) throw optionsError([{ path: ['rate'], owner: who, problem: NO_RATE }]);
  const opened = new Map<string, Open>();
  const openFor = async (workspace: WorkspaceOfEvent): Promise<Open> => {
    const filled = filledIn(options, workspace, who);
    const key = JSON.stringify(filled);
    const before = opened.get(workspace.name);
    if (before?.key === key) return before;
    const made = { key, subscription: openedFor(filled, workspace, { who, open }), failures: 0, isTried: false };
    // The one that was opened first goes; its next delivery opens it again.
    const [oldest] = before === undefined && opened.size >= MOST_OPEN ? opened : [];
    if (oldest !== undefined) opened.delete(oldest[0]);
    opened.set(workspace.name, made);
    await Promise.all([before?.subscription.close?.(), oldest?.[1].subscription.close?.()]);
    return made;
  };
  return {
    ...base,
    address: `${kind} of each workspace`,
    async handle(event, context) {
      const one = await openFor(context.workspace);
      const isAway = one.failures >= FAILURES;
      if (isAway && one.isTried) throw stillAway(who, context.workspace);
      one.isTried = true;
      try {
        const result = await one.subscription.handle(event, context);
        one.failures = 0;
        return result;
      } catch (error) {
        one.failures += 1;
        // One customer's endpoint is gone, not those of all.
        if (isDisabling(error)) throw new PermanentError(messageOf(error), { cause: error });
        throw error;
      } finally {
        one.isTried = false;
      }
    },
    async close() {
      await Promise.all([base.close?.(), ...[...opened.values()].map(({ subscription }) => subscription.close?.())]);
    },
  };
}

/** @throws ChangefeedError CF_DELIVERY_REFUSED naming what the data lacks */
function filledIn(value: Options, workspace: WorkspaceOfEvent, who: string): Options {
  const fill = (one: unknown): unknown => {
    if (typeof one === 'string') return one.replaceAll(NAMED, (_, path: string) => textOf(path, workspace, who));
    if (Array.isArray(one)) return one.map(fill);
    if (typeof one !== 'object' || one === null || typeof one === 'function') return one;
    return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, fill(inner)]));
  };
  return fill(value) as Options;
}

function textOf(path: string, { name, data }: WorkspaceOfEvent, who: string): string {
  const own = (at: unknown, step: string): unknown =>
    Object.hasOwn(Object(at) as object, step) ? (at as Options)[step] : undefined;
  const found = path.split('.').reduce<unknown>(own, data);
  if (typeof found === 'string' || typeof found === 'number') return String(found);
  throw refused(who, name, `its data has no "${path}"; put the workspace with it`);
}

function openedFor(
  filled: Options,
  { name }: WorkspaceOfEvent,
  { who, open }: Pick<PerWorkspace, 'open'> & { who: string },
): Subscription {
  try {
    return open(filled);
  } catch (error) {
    throw refused(who, name, `its data gives no option that can be used: ${messageOf(error).replace(/\.$/, '')}`);
  }
}

function stillAway(who: string, { name }: WorkspaceOfEvent): ChangefeedError {
  return refused(who, name, 'its receiver has failed, and another delivery tries whether it is back');
}

function refused(who: string, workspace: string, why: string): ChangefeedError {
  const message = `${who}: for the workspace "${workspace}" nothing was sent: ${why}.`;
  return new ChangefeedError('CF_DELIVERY_REFUSED', { workspace, message });
}
