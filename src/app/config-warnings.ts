/**
 * Warnings about a valid configuration: subscriptions that can never match, handlers that cannot work, and lists that are needed but not
 * polled. Logged by `start` and by a reload. Whether a subscription can match is found by running its selection over the sample events of `config-emissions.ts`.
 */
import type { Config, WorkspaceConfig } from '../config/schema.js';
import { emissionsOf, type Emission, type Obstacle } from './config-emissions.js';
import { compileSelection } from '../dispatch/match.js';
import { workspaceOf } from '../events/envelope.js';
import type { Derivation } from '../handlers/derive.js';
import type { Selection, Subscription } from '../handlers/handler.js';
import type { Log } from '../runtime/log.js';

export interface ConfigWarning {
  about: 'subscription' | 'handler' | 'polling' | 'mirror' | 'todos';
  /** The subscription or derive function, or the workspace. */
  subject: { subscription: string } | { workspace: string };
  reason: string;
  remedy: string;
}

const MESSAGES = {
  subscription: 'subscription can never match',
  handler: 'handler cannot work',
  polling: 'workspace is not polled',
  mirror: 'mirror cannot serve every list',
  todos: 'todos cannot be watched as configured',
} as const satisfies Record<ConfigWarning['about'], string>;

export function configWarnings(config: Config): ConfigWarning[] {
  return [
    ...config.workspaces.flatMap((workspace) => workspaceWarnings(workspace, config)),
    ...config.derive.flatMap((one) => subscriptionWarning(one, detectedFor(one, config))),
    ...config.subscriptions.flatMap((one) => subscriptionWarning(one, emittedFor(one, config))),
    ...config.subscriptions.flatMap(handlerWarning),
  ];
}

/** @param about the kinds of warnings that concern this process */
export function logConfigWarnings(
  log: Pick<Log, 'warn'>,
  config: Config,
  about: readonly ConfigWarning['about'][] = ['subscription', 'handler', 'polling', 'mirror', 'todos'],
): void {
  for (const { about: kind, subject, reason, remedy } of configWarnings(config))
    if (about.includes(kind)) log.warn({ ...subject, reason, remedy }, MESSAGES[kind]);
}

function workspaceWarnings({ name, lists, todos }: WorkspaceConfig, { serve }: Config): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  const warn = (about: ConfigWarning['about'], reason: string, remedy: string): void =>
    void warnings.push({ about, subject: { workspace: name }, reason, remedy });
  const all = Object.entries(lists);
  const disabled = all.filter(([, { enabled }]) => !enabled).map(([list]) => list);
  const imageless = all.filter(([, { enabled, images }]) => enabled && !images).map(([list]) => list);
  if (disabled.length === all.length)
    warn(
      'polling',
      'every list of the workspace is disabled',
      'enable a list, or take the workspace out of the configuration',
    );
  if (serve?.tokens.has(name) === true && disabled.length + imageless.length > 0) {
    const reasons = [
      ...(disabled.length > 0 ? [`${disabled.join(', ')}: disabled`] : []),
      ...(imageless.length > 0 ? [`${imageless.join(', ')}: kept without images`] : []),
    ];
    const reason = `lists that the mirror does not have (${reasons.join('; ')})`;
    warn('mirror', reason, 'set enabled and images of these lists to true, or expect 404 for them');
  }
  if (todos.watch && disabled.includes('todo')) {
    const remedy = 'set todos.watch to false, or lists.todo.enabled to true';
    warn('todos', 'todos.watch is on, and the list "todo" is disabled', remedy);
  }
  if (todos.watch && imageless.includes('todo')) {
    const reason =
      'todos.watch is on, and the list "todo" is kept without images: todos cannot be counted, and crm.todo.reassigned is never emitted';
    warn('todos', reason, 'set lists.todo.images to true');
  }
  return warnings;
}

type Reader = Derivation | Subscription;

/** A derive function receives the events of detection, never derived events. */
function detectedFor({ fields = [], start }: Reader, config: Config): Emission[] {
  return emissionsOf(config, { fields, snapshot: start === 'snapshot' });
}

/** A derive function can emit its types where it can receive an event. */
function emittedFor(subscription: Subscription, config: Config): Emission[] {
  const derived = config.derive.flatMap((one) => {
    const selects = selectionOf(one);
    const sources = detectedFor(one, config).filter(({ event }) => selects(event));
    return one.emits.flatMap((type) => sources.map(({ event, obstacle }) => ({ event: { ...event, type }, obstacle })));
  });
  return [...detectedFor(subscription, config), ...derived];
}

/** The same selection that the dispatcher runs, without `where`: what that selects depends on the actual events. */
function selectionOf({ where: _, ...selection }: Selection): ReturnType<typeof compileSelection> {
  return compileSelection(selection);
}

function subscriptionWarning(reader: Reader, emissions: readonly Emission[]): ConfigWarning[] {
  const selects = selectionOf(reader);
  const selected = emissions.filter(({ event }) => selects(event));
  if (selected.some(({ obstacle }) => obstacle === null)) return [];
  const why = selected.length > 0 ? combined(selected) : contradiction(reader, emissions);
  return [{ about: 'subscription', subject: { subscription: reader.name }, ...why }];
}

function handlerWarning({ name, obstacle }: Subscription): ConfigWarning[] {
  const found = obstacle?.() ?? null;
  return found === null ? [] : [{ about: 'handler', subject: { subscription: name }, ...found }];
}

const MOST_REASONS = 4;

/** All obstacles in one text, each once, with the workspaces that have it. */
function combined(selected: readonly Emission[]): Obstacle {
  const workspacesOf = new Map<string, Set<string>>();
  const remedies = new Set<string>();
  for (const { event, obstacle } of selected) {
    if (obstacle === null) continue;
    const workspaces = workspacesOf.get(obstacle.reason) ?? new Set();
    workspacesOf.set(obstacle.reason, workspaces.add(workspaceOf(event)));
    remedies.add(obstacle.remedy);
  }
  const reasons = [...workspacesOf].map(([reason, workspaces]) => `${reason} in ${[...workspaces].join(', ')}`);
  return { reason: `nothing it selects is emitted: ${some(reasons)}`, remedy: some([...remedies]) };
}

function some(texts: readonly string[]): string {
  const further = texts.length - MOST_REASONS;
  return [...texts.slice(0, MOST_REASONS), ...(further > 0 ? [`and ${further} more`] : [])].join('; ');
}

const NARROWING = ['workspaces', 'lists', 'class', 'fields'] as const satisfies readonly (keyof Selection)[];

/** The subscription's own options exclude each other. Names the option without which it would match, otherwise all of them. */
function contradiction(reader: Reader, emissions: readonly Emission[]): Obstacle {
  const given = NARROWING.filter((option) => reader[option] !== undefined);
  const decisive = given.find((option) => {
    const selects = selectionOf({ ...reader, [option]: undefined });
    return emissions.some(({ event }) => selects(event));
  });
  const named = decisive === undefined ? given : [decisive];
  const options = named.map((option) => `${option} (${[reader[option] ?? []].flat().join(', ')})`).join(' and ');
  const on = reader.on.join(', ');
  if (named.length === 0) return { reason: `nothing emits what its on selects (${on})`, remedy: 'change its on' };
  return {
    reason: `nothing that its on selects (${on}) passes its ${options}`,
    remedy: `change its ${named.join(', ')} or its on`,
  };
}
