/** What the page asks about rules, and what an operator decides about them. */
import { z } from 'zod';
import type { Caller } from '../http/access.js';
import * as answers from './answers.js';
import { described, OPERATE, READS_LOG, READS_RECORDS, type Api } from './api.js';
import { knownWorkspace } from './event-filter.js';
import { readableTexts } from './event-view.js';
import type { EndpointDeps, Who } from './source.js';

const of = described('rules');
const named = { params: z.object({ id: z.string().max(40) }) };
const rule = z.looseObject({}).describe('as in the file');
const revision = z.string().max(100).describe('of the file that was seen');

export function addRules(app: Api, { source }: EndpointDeps): void {
  const { rules } = source;
  app.get(
    '/api/rules',
    { schema: of('listRules', 'The rules of the file as it is now, and the destinations.', answers.rules) },
    async () => readableTexts(await rules.state()),
  );
  const saves =
    'Saves a rule whole, unless the file has changed meanwhile. Its option `enabled` switches it on and off.';
  app.post(
    '/api/rules/:id',
    {
      config: OPERATE,
      schema: of('saveRule', saves, answers.ruleChanged, { ...named, body: z.strictObject({ revision, rule }) }),
    },
    ({ params: { id }, body, caller }) =>
      rules.save({ revision: body.revision, rule: { ...body.rule, id } }, whoIs(caller)),
  );
  app.post(
    '/api/rules/:id/remove',
    {
      config: OPERATE,
      schema: of('removeRule', 'Removes a rule.', answers.ruleChanged, {
        ...named,
        body: z.strictObject({ revision }),
      }),
    },
    ({ params: { id }, body, caller }) => rules.remove({ revision: body.revision, id }, whoIs(caller)),
  );
  const sends = 'Sends the newest match of a rule to its destination, marked as a test.';
  app.post(
    '/api/rules/:id/test',
    { config: OPERATE, schema: of('testRule', sends, answers.ruleSent, { ...named, body: z.strictObject({ rule }) }) },
    async ({ params: { id }, body, caller }) => readableTexts(await rules.send({ ...body.rule, id }, whoIs(caller))),
  );
  addQuestions(app, source);
}

function addQuestions(app: Api, source: EndpointDeps['source']): void {
  const { rules } = source;
  const from = z.strictObject({ workspace: z.string(), before: z.string().regex(/^\d{1,15}-\d{1,19}$/) });
  const body = z.strictObject({
    rule,
    from: from.optional().describe('`next` of the answer before'),
    search: z.string().trim().min(1).max(200).optional().describe('only records that are called so, with why not'),
  });
  app.post(
    '/api/rules/preview',
    {
      config: READS_LOG,
      schema: of(
        'previewRule',
        'What a rule would have done in the last 7 days. Nothing is sent.',
        answers.rulePreview,
        { body },
      ),
    },
    async ({ body: call }) => readableTexts(await rules.preview(call)),
  );
  app.get(
    '/api/rules/:id/history',
    { schema: of('readRuleHistory', 'Who has changed a rule, when, and what.', answers.ruleHistory, named) },
    async ({ params: { id } }) => ({ entries: await rules.history(id) }),
  );
  const querystring = z.strictObject({ workspace: z.string(), list: z.string(), field: z.string().max(200) });
  app.get(
    '/api/rules/values',
    {
      config: READS_RECORDS,
      schema: of('listValues', 'Values that stored records have in a field.', answers.ruleValues, { querystring }),
    },
    async ({ query: { workspace, list, field } }) => {
      const values = await rules.values(knownWorkspace(workspace, source), list, field);
      return readableTexts({ values });
    },
  );
}

function whoIs(caller: Caller | null): Who {
  return { by: caller?.name ?? caller?.role ?? '', how: caller?.how ?? '' };
}
