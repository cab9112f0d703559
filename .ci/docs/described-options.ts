/** Puts the words of the reference into the JSON schema of a configuration: an editor shows them beside each option. */
import { docsOf, SECTIONS, type Section } from './configuration.js';
import { optionDocs, type OptionDoc } from './options.js';

type JsonSchema = Record<string, unknown>;

const MARK = 'here';
/** Sections whose options several handlers have. Any other section is about the handler of its example. */
const OF_ALL = ['subscriptionShape', 'retryOptions', 'settleOptions', 'unchangedOptions'];
const OF_ENDPOINTS = ['endpointShape', 'rateOptions', 'chatShape', 'otherwiseShape', 'digestOptions'];

const LIST = ['workspaces', '[]', 'lists', '*'];
const SUBSCRIPTION = ['subscriptions', '[]'];
const DESTINATION = ['destinations', '*'];
const HANDLERS = 'delivery/handlers';
/** What the page of the reference says elsewhere, or in the line of the option that has them. */
const FURTHER: readonly { file: string; name: string; path: readonly string[] }[] = [
  { file: 'config/lists.ts', name: 'descriptorOptions', path: LIST },
  { file: `${HANDLERS}/options.ts`, name: 'receiptOptions', path: [...SUBSCRIPTION, 'receipts'] },
  { file: `${HANDLERS}/digest.ts`, name: 'digestShape', path: SUBSCRIPTION },
  { file: `${HANDLERS}/postgres/postgres.ts`, name: 'columnOptions', path: [...SUBSCRIPTION, 'columns', '*', '*'] },
  { file: `${HANDLERS}/http/endpoint.ts`, name: 'endpointShape', path: DESTINATION },
  { file: `${HANDLERS}/http/endpoint.ts`, name: 'rateOptions', path: [...DESTINATION, 'rate'] },
  { file: `${HANDLERS}/message/chat.ts`, name: 'chatShape', path: DESTINATION },
  { file: `${HANDLERS}/message/chat.ts`, name: 'aboutShape', path: DESTINATION },
  { file: `${HANDLERS}/email/email.ts`, name: 'mailShape', path: DESTINATION },
  { file: `${HANDLERS}/recipients.ts`, name: 'otherwiseShape', path: DESTINATION },
  { file: `${HANDLERS}/message/clicks.ts`, name: 'buttonShape', path: DESTINATION },
  { file: `${HANDLERS}/webhook/webhook.ts`, name: 'webhookOptions', path: DESTINATION },
];

/** Of the table of guides/conditions.md. */
const OPERATORS: Readonly<Record<string, string>> = {
  any: 'One of these sets of conditions holds; at most 50 conditions in all.',
  not: 'It has another value; an array: none of them.',
  gt: 'It is above; numbers with numbers, texts with texts, times with times.',
  gte: 'It is this or above; numbers with numbers, texts with texts, times with times.',
  lt: 'It is below; numbers with numbers, texts with texts, times with times.',
  lte: 'It is this or below; numbers with numbers, texts with texts, times with times.',
  contains: 'The list contains this element, the text contains this part.',
  matches: 'The text matches the pattern (`*`: any characters).',
  exists: 'False: it is null or absent. True: neither.',
  inNext: "It is within this time, such as '7d', counted from when the change was seen.",
  ago: "It is this time ago or longer, such as '30d', counted from when the change was seen.",
  rises: 'The number is higher than before, with `by` by so much.',
  falls: 'The number is lower than before, with `by` by so much.',
  by: "A number, or a share of the one before such as '20%'.",
  from: 'It had this value, or one of these, and has it no longer; with `to`: has that one now.',
  to: 'With `from`: the value that it has now.',
  becomes: 'It has this value, or one of these, and had not; also in a new record.',
  changes: 'It has another value than before.',
};

/** Changes the schema. Sections of one handler come last, and say of a shared option what it is there. */
export function describeOptions(schema: JsonSchema): JsonSchema {
  const shared = ({ name }: Section): number => (OF_ALL.includes(name) ? 0 : OF_ENDPOINTS.includes(name) ? 1 : 2);
  for (const section of [...SECTIONS].sort((a, b) => shared(a) - shared(b))) {
    const [path = [], raw] = [pathOf(section.around({ [MARK]: true })), section.around({})];
    for (const node of nodesAt([schema], path, handlersOf(section, raw))) describeNode(node, docsOf(section));
  }
  for (const { file, name, path } of FURTHER)
    for (const node of nodesAt([schema], path, null)) describeNode(node, optionDocs(file, name));
  const operators = Object.entries(OPERATORS).map(([name, meaning]) => ({ name, meaning }));
  const where = ['subscriptions', '[]', 'where'];
  for (const more of [[], ['*'], ['any', '[]', '*']])
    for (const node of nodesAt([schema], [...where, ...more], null)) describeNode(node, operators);
  return schema;
}

function describeNode({ properties = {} }: JsonSchema, docs: readonly Pick<OptionDoc, 'name' | 'meaning'>[]): void {
  const options = properties as Record<string, JsonSchema>;
  for (const { name, meaning } of docs) {
    const option = options[name];
    if (option !== undefined && meaning !== '') options[name] = { ...option, description: meaning };
  }
}

function handlersOf({ name }: Section, raw: JsonSchema): readonly string[] | null {
  if (OF_ALL.includes(name)) return null;
  if (OF_ENDPOINTS.includes(name)) return ['email', 'webhook', 'message', 'todoReport'];
  const [first] = (raw['subscriptions'] ?? []) as { handler: string }[];
  return first === undefined ? null : [first.handler];
}

/** Of the object that has the mark; an element of an array is `[]`. */
function pathOf(value: unknown): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, MARK)) return [];
  for (const [key, child] of Object.entries(value)) {
    const rest = pathOf(child);
    if (rest !== undefined) return [Array.isArray(value) ? '[]' : key, ...rest];
  }
  return undefined;
}

type Handlers = readonly string[] | null;

function nodesAt(schemas: readonly JsonSchema[], path: readonly string[], handlers: Handlers): JsonSchema[] {
  const nodes = schemas.flatMap((one) => alternatives(one, handlers));
  const [key, ...rest] = path;
  if (key === undefined) return nodes;
  const next = nodes.flatMap(({ items, properties, additionalProperties }) => {
    const named = (properties as Record<string, unknown> | undefined)?.[key];
    return [key === '[]' ? items : (named ?? additionalProperties)].filter(isSchema);
  });
  return nodesAt(next, rest, handlers);
}

/** The schema and what it may be instead, by the handler that it names. */
function alternatives(schema: JsonSchema, handlers: Handlers): JsonSchema[] {
  const { anyOf = [], allOf = [], then } = schema as { anyOf?: JsonSchema[]; allOf?: JsonSchema[]; then?: JsonSchema };
  const handler = (schema['if'] as { properties: { handler: { const: string } } } | undefined)?.properties.handler
    .const;
  const isAsked = handler === undefined || handlers === null || handlers.includes(handler);
  const others = [...anyOf, ...allOf, ...(then === undefined || !isAsked ? [] : [then])];
  return [schema, ...others.flatMap((one) => alternatives(one, handlers))];
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;
