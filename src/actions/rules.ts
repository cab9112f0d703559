/** Actions on the rules that are made on the page. */
import { z } from 'zod';
import * as answers from '../ops/server/page/answers.js';
import { readableTexts } from '../ops/server/page/event-view.js';
import { defineAction, definePageAction } from './define.js';
import { workspaceOf } from './fields.js';

const { element: ruleEntry } = answers.ruleHistory.shape.entries;
const id = z.string().max(40).describe('the id of a rule');
const rule = z.looseObject({}).describe('as in the file');
const revision = z.string().max(100).describe('of the file that was seen');

/** A preview has no id. */
const ruleNamed = (input: { id: string }) => ({ rule: input.id });

export const listRules = definePageAction({
  name: 'rules',
  id: 'listRules',
  on: 'rules',
  route: 'GET /api/rules',
  about: ['The rules of the file as it is now, and the destinations.', '지금 파일에 있는 규칙과 받는 곳.'],
  input: z.strictObject({}),
  answer: answers.rules,
  run: async (_input, { rules }) => readableTexts(await rules.state()),
});

export const saveRule = definePageAction({
  name: 'rule save',
  id: 'saveRule',
  on: 'rules',
  route: 'POST /api/rules/:id',
  about: [
    'Saves a rule whole, unless the file has changed meanwhile. Its option `enabled` switches it on and off.',
    '규칙을 통째로 저장합니다. 그사이 파일이 바뀌었으면 저장하지 않습니다. `enabled`로 켜고 끕니다.',
  ],
  input: z.strictObject({ id, revision, rule }),
  answer: answers.ruleChanged,
  audited: (answer, input) =>
    answer.outcome === 'saved' ? { ...ruleNamed(input), did: answer.did, changed: answer.changed } : null,
  run: ({ id: name, ...call }, { rules }) => rules.save({ revision: call.revision, rule: { ...call.rule, id: name } }),
});

export const removeRule = definePageAction({
  name: 'rule remove',
  id: 'removeRule',
  on: 'rules',
  route: 'POST /api/rules/:id/remove',
  about: ['Removes a rule.', '규칙을 지웁니다.'],
  input: z.strictObject({ id, revision }),
  answer: answers.ruleChanged,
  audited: (answer, input) =>
    answer.outcome === 'saved' ? { ...ruleNamed(input), did: answer.did, changed: answer.changed } : null,
  run: (call, { rules }) => rules.remove(call),
});

export const forgetMissingRules = defineAction({
  name: 'rules forget-missing',
  id: 'forgetMissingRules',
  on: 'rules',
  route: 'POST /api/rules/forget-missing',
  about: [
    'Decides that the rules of a file that is missing are gone: from then on, there are none.',
    '없어진 파일에 있던 규칙을 지운 것으로 정합니다. 그때부터 규칙이 없습니다.',
  ],
  input: z.strictObject({}),
  answer: answers.done,
  audited: ({ count }) => (count === 0 ? null : { count }),
  run: (_input, { feed }) => feed.forgetMissingRules(),
  says: ({ count }, { t, number }) => t('forgetMissingRules.done', { count: number(count) }),
});

export const testRule = definePageAction({
  name: 'rule test',
  id: 'testRule',
  on: 'rules',
  route: 'POST /api/rules/:id/test',
  about: [
    'Sends the newest match of a rule, or an example of a stored record, to its destination, marked as a test.',
    '규칙에 해당하는 가장 최근 것을, 없으면 저장된 레코드의 예를 받는 곳에 테스트로 보냅니다.',
  ],
  input: z.strictObject({ id, rule }),
  answer: answers.ruleSent,
  audited: (answer, input) => (answer.outcome === 'sent' ? { ...ruleNamed(input), did: 'test', changed: [] } : null),
  run: async ({ id: name, rule: data }, { rules }) => readableTexts(await rules.send({ ...data, id: name })),
});

export const previewRule = definePageAction({
  name: 'rule preview',
  id: 'previewRule',
  on: 'rules',
  route: 'POST /api/rules/preview',
  reads: true,
  about: [
    'What a rule would have done in the last 7 days. Nothing is sent.',
    '규칙이 지난 7일 동안 했을 일. 아무것도 보내지 않습니다.',
  ],
  input: z.strictObject({
    rule,
    from: z.string().max(2_000).optional().describe('`next` of the answer before'),
    search: z.string().trim().min(1).max(200).optional().describe('only records that are called so, with why not'),
  }),
  answer: answers.rulePreview,
  cost: 'log',
  run: async (call, { rules }) => readableTexts(await rules.preview(call)),
});

export const readRuleHistory = definePageAction({
  name: 'rule history',
  id: 'readRuleHistory',
  on: 'rules',
  route: 'GET /api/rules/:id/history',
  about: ['Who has changed a rule, when, and what.', '규칙을 누가 언제 무엇을 바꿨는지.'],
  input: z.strictObject({ id }),
  answer: answers.ruleHistory,
  async run({ id: name }, { audit }) {
    const entries = await audit.read({ rule: name });
    return {
      entries: entries.map(({ at, by, how, did, changed }) => ruleEntry.parse({ at, by, how, what: did, changed })),
    };
  },
});

export const listValues = definePageAction({
  name: 'rule values',
  id: 'listValues',
  on: 'rules',
  route: 'GET /api/rules/values',
  about: ['Values that stored records have in a field.', '저장된 레코드가 한 필드에 가진 값.'],
  input: z.strictObject({ workspace: workspaceOf, list: z.string(), field: z.string().max(200) }),
  answer: answers.ruleValues,
  cost: 'records',
  async run({ workspace, list, field }, { rules }) {
    return readableTexts({ values: await rules.values(workspace, list, field) });
  },
});
