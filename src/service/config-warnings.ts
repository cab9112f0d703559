/** Warnings about a valid configuration. A warning is never false: it compares names and predicts no events. */
import type { Config, WorkspaceConfig } from '../config/schema.js';
import { builtInLists } from '../crm/lists/lists.js';
import { NOTICE_TYPES, typesOf } from '../events/catalogue.js';
import { listOf } from '../events/envelope.js';
import { compileTypePattern } from '../events/pattern.js';
import type { Subscription } from '../delivery/handlers/handler.js';
import { parseRedisUrl } from '../redis/client.js';
import type { Log } from '../kit/log.js';
import { normaliseBaseUrl, sendsInClear } from '../kit/schema/addresses.js';

export interface ConfigWarning {
  about: 'subscription' | 'unpolled' | 'handler' | 'address' | 'polling' | 'shared' | 'mirror' | 'todos';
  subject: { subscription: string } | { workspace: string } | { redis: string };
  reason: string;
  remedy: string;
}

const MESSAGES = {
  subscription: 'subscription can never match',
  unpolled: 'subscription selects only lists that are disabled',
  handler: 'handler cannot work',
  address: 'an address is used without encryption',
  polling: 'workspace is not polled',
  shared: 'two workspaces read the same',
  mirror: 'mirror cannot serve every list',
  todos: 'todos cannot be watched as configured',
} as const satisfies Record<ConfigWarning['about'], string>;

export function configWarnings(config: Config): ConfigWarning[] {
  return [
    ...clearWarnings(config),
    ...config.workspaces.flatMap((workspace) => workspaceWarnings(workspace, config)),
    ...sharedWarnings(config),
    ...config.subscriptions.flatMap((one) => subscriptionWarning(one, config)),
    ...config.subscriptions.flatMap(handlerWarning),
  ];
}

export function logConfigWarnings(log: Log, config: Config, about: readonly ConfigWarning['about'][]): void {
  for (const { about: kind, subject, reason, remedy } of configWarnings(config))
    if (about.includes(kind)) log.warn({ ...subject, reason, remedy }, MESSAGES[kind]);
}

/** What only a database can say comes a moment later. */
export function logMisfits(log: Log, subscriptions: readonly Subscription[]): void {
  for (const { name, misfit } of subscriptions) {
    void misfit?.().then((found) => {
      if (found !== null) log.warn({ subscription: name, ...found }, MESSAGES.handler);
    });
  }
}

const IN_CLEAR = 'a public host without TLS: secrets and records can be read on the way';

function clearWarnings({ workspaces, subscriptions, redis: { url, options } }: Config): ConfigWarning[] {
  const clear = (subject: ConfigWarning['subject'], remedy: string): ConfigWarning => {
    return { about: 'address', subject, reason: IN_CLEAR, remedy };
  };
  return [
    ...(url !== undefined && options?.tls === undefined && sendsInClear(url)
      ? [clear({ redis: parseRedisUrl(url).place }, 'use rediss')]
      : []),
    ...workspaces.flatMap(({ name, baseUrl }) =>
      baseUrl !== undefined && sendsInClear(baseUrl) ? [clear({ workspace: name }, 'use https in baseUrl')] : [],
    ),
    ...subscriptions.flatMap(({ name, inClear }) =>
      inClear === undefined ? [] : [clear({ subscription: name }, inClear)],
    ),
  ];
}

/** Budgets are by workspace, so together they may ask for more than the API allows. */
function sharedWarnings({ workspaces }: Config): ConfigWarning[] {
  return workspaces.flatMap(({ name, baseUrl, token, fetchPage }, index) => {
    if (baseUrl === undefined || fetchPage !== undefined) return [];
    const others = workspaces.slice(0, index);
    const same = others.find(
      (one) => one.token === token && normaliseBaseUrl(one.baseUrl ?? 'http://none') === normaliseBaseUrl(baseUrl),
    );
    if (same === undefined) return [];
    const reason = `it has the baseUrl and token of workspace "${same.name}": each change is an event in both, and each has a budget of its own`;
    const remedy = 'remove one of them, or halve both budgets';
    return [{ about: 'shared' as const, subject: { workspace: name }, reason, remedy }];
  });
}

function workspaceWarnings({ name, lists, todos }: WorkspaceConfig, { serve }: Config): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  const warn = (about: ConfigWarning['about'], reason: string, remedy: string): void =>
    void warnings.push({ about, subject: { workspace: name }, reason, remedy });
  const all = Object.entries(lists);
  const disabled = all.filter(([, { enabled }]) => !enabled).map(([list]) => list);
  const onlyKeys = all.filter(([, one]) => one.enabled && one.descriptor.recognisedOnly).map(([list]) => list);
  if (disabled.length === all.length)
    warn(
      'polling',
      'every list of the workspace is disabled',
      'enable a list, or take the workspace out of the configuration',
    );
  if (serve?.tokens.has(name) === true && disabled.length + onlyKeys.length > 0) {
    const reasons = [
      ...(disabled.length > 0 ? [`${disabled.join(', ')}: disabled`] : []),
      ...(onlyKeys.length > 0 ? [`${onlyKeys.join(', ')}: only keys of rows are stored`] : []),
    ];
    const reason = `lists that the mirror does not have (${reasons.join('; ')})`;
    warn('mirror', reason, 'set enabled of these lists to true, or expect 404 for them');
  }
  if (todos.watch && disabled.includes('todo')) {
    const remedy = 'set todos.watch to false, or lists.todo.enabled to true';
    warn('todos', 'todos.watch is on, and the list "todo" is disabled', remedy);
  }
  return warnings;
}

function subscriptionWarning(subscription: Subscription, config: Config): ConfigWarning[] {
  const { name, on, lists: wanted, workspaces: named, catalogue = builtInLists } = subscription;
  if (subscription.report !== undefined)
    return subscription.report.what === 'todos' ? reportWarning(subscription, config) : [];
  const patterns = on.map(compileTypePattern);
  const isSelected = (type: string): boolean =>
    patterns.some((selects) => selects(type)) &&
    (wanted === undefined || wanted.includes(listOf({ type }, catalogue) ?? ''));
  if (NOTICE_TYPES.some(isSelected)) return [];
  const lists = config.workspaces
    .filter((workspace) => named === undefined || named.includes(workspace.name))
    .flatMap((workspace) => Object.values(workspace.lists).map((list) => ({ ...list, workspace: workspace.name })))
    .filter(({ descriptor }) => typesOf(descriptor).some(isSelected));
  const warn = (about: ConfigWarning['about'], reason: string, remedy: string): ConfigWarning[] => [
    { about, subject: { subscription: name }, reason, remedy },
  ];
  const names = (some: typeof lists): string =>
    some.map(({ descriptor, workspace }) => `"${descriptor.name}" in ${workspace}`).join(', ');
  const enabled = lists.filter((list) => list.enabled);
  if (enabled.length > 0) return [];
  if (lists.length > 0)
    return warn('unpolled', `these lists are disabled: ${names(lists)}`, 'enable one of them, or change its on');
  // A workspace that comes at run time may have such a list.
  if (config.key !== undefined) return [];
  const given = (['lists', 'workspaces'] as const).filter((option) => subscription[option] !== undefined);
  const options = given.map((option) => `${option} (${(subscription[option] ?? []).join(', ')})`).join(' and ');
  const reason = `nothing that its on selects (${on.join(', ')}) exists in its ${options}`;
  return warn('subscription', reason, `change its ${given.join(', ')} or its on`);
}

function reportWarning({ name, workspaces: named }: Subscription, { workspaces }: Config): ConfigWarning[] {
  const uncounted = workspaces
    .filter((one) => named === undefined || named.includes(one.name))
    .filter(({ lists: { todo } }) => !todo.enabled);
  if (uncounted.length === 0) return [];
  const reason = `the list "todo" is disabled in ${uncounted.map((one) => one.name).join(', ')}: there is nothing to report`;
  const remedy = 'set enabled of lists.todo to true, or name other workspaces in its workspaces';
  return [{ about: 'subscription', subject: { subscription: name }, reason, remedy }];
}

function handlerWarning({ name, obstacle }: Subscription): ConfigWarning[] {
  const found = obstacle?.() ?? null;
  return found === null ? [] : [{ about: 'handler', subject: { subscription: name }, ...found }];
}
