/** docs/cli.schema.json: what the commands print with `--json`. It is made from the schemas that the code and the page's API have. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { optionDocs } from '../../.ci/docs/options.js';
import { todosReport } from '../../src/crm/todo-counts.js';
import { deliveryRow } from '../../src/delivery/receipts/delivery-row.js';
import { summarySchema } from '../../src/feed/store/sweep-state.js';
import { ACTIONS } from '../../src/actions/table.js';
import * as answers from '../../src/ops/server/page/answers.js';
import { statusSchema } from '../../src/ops/watch/status.js';

const count = z.number().int();
const text = z.string();

const completeSweep = summarySchema
  .extend({ workspace: text, list: text, outcome: z.literal('complete'), events: count })
  .describe('`mode` is `baseline` for the first complete sweep of a list');
const incompleteSweep = z.strictObject({
  workspace: text,
  list: text,
  outcome: z.literal('incomplete'),
  page: count.nullable(),
  code: text.nullable().describe('the code of the reason'),
  error: text.describe('a sentence'),
});

const finding = z.strictObject({
  result: z.enum(['ok', 'warning', 'error', 'skipped']).describe('`skipped`: it could not be checked'),
  check: text,
  seen: text,
  todo: text.nullable().describe('what to do'),
});

const BY_HAND = {
  sweep: z.strictObject({
    sweeps: z.array(z.union([completeSweep, incompleteSweep])),
    unhandled: z
      .array(z.strictObject({ subscription: text, workspace: text, stage: z.enum(['reading', 'handling']) }))
      .describe('empty unless `--timeout` was reached'),
  }),
  status: statusSchema.describe('with `--watch`, one per line'),
  doctor: z.strictObject({ findings: z.array(finding) }),
  todos: todosReport,
  deliveries: deliveryRow.extend({}).describe('one per line'),
  dead: answers.deadLetter
    .extend({ event: z.looseObject({ id: text, type: text }).describe('the event, as handlers receive it') })
    .describe('`list` and `show`: one per line'),
  rules: z.strictObject({ file: text, rules: z.array(z.looseObject({ id: text, to: text })) }),
  held: answers.heldRecords.shape.held.element.describe('one per line'),
  forget: answers.forgotten.extend({
    deliveries: z.strictObject({ waiting: count, handled: count, dead: count }),
  }),
  webhook: answers.tested.extend({
    signatures: z
      .array(z.strictObject({ secret: count, signature: text }))
      .describe('`secret` is its position in the configuration, from 1'),
  }),
};

/** With `--dry-run`, `dryRun` is beside the answer. */
const PRINTED: Record<string, z.ZodType> = {
  ...BY_HAND,
  audit: answers.auditList.shape.entries.element,
  ...Object.fromEntries(
    ACTIONS.filter(({ says, name }) => says !== undefined || ['erase', 'try', 'usage'].includes(name)).map(
      ({ name, answer }) => [name.replace(' ', '-'), (answer as z.ZodObject).loose()],
    ),
  ),
};

export const cliSchema = (): string => `${JSON.stringify(cliDocument(), null, 2)}\n`;

/** `format` says it already. */
function withoutPattern({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
}

const COMMENTS = ['sweep', 'sweepCounts', 'summarySchema'].flatMap((name) =>
  optionDocs('feed/store/sweep-state.ts', name).map(({ name: field, meaning }) => [field, meaning] as const),
);

/** What a sweep prints is what is stored of it, described where it is declared. */
function withComments(schema: object): object {
  const meanings = new Map(COMMENTS.filter(([, meaning]) => meaning !== ''));
  return JSON.parse(JSON.stringify(schema), (name, value: unknown) =>
    meanings.has(name) && typeof value === 'object' ? { description: meanings.get(name), ...value } : value,
  ) as object;
}

function cliDocument() {
  const defs = Object.entries(PRINTED).map(([command, schema]) => {
    const { $schema: _, ...json } = z.toJSONSchema(schema, {
      io: 'output',
      reused: 'inline',
      override: withoutPattern,
    });
    return [command, command === 'sweep' ? withComments(json) : json] as const;
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:crm-changefeed:cli',
    title: 'What the commands of Changefeed print with --json',
    description: '`#/$defs/<command>` is the schema of one command. `tail` prints events: see events.schema.json.',
    $defs: Object.fromEntries(defs),
  };
}

const ajv = new Ajv2020({
  allowUnionTypes: true,
  formats: { 'date-time': (value: string) => !Number.isNaN(Date.parse(value)) },
});
ajv.addSchema(cliDocument());

/** Where what a command printed differs from the schema. */
export function problemsOfPrinted(command: string, printed: unknown): string[] {
  const validate = ajv.getSchema(`urn:crm-changefeed:cli#/$defs/${command}`)!;
  return validate(printed) === true
    ? []
    : validate.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`);
}
