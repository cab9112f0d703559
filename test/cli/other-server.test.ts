import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { useCli } from '../support/cli.js';
import { eventNumber } from '../support/delivered.js';
import { startOtherCrm, type OtherCrm, type OtherRecord } from '../support/other-crm.js';
import { redisBinary } from '../support/private-redis.js';

describe.skipIf(redisBinary === undefined)('sweep: another server of the API', () => {
  const cli = useCli();

  async function sweeping(crm: OtherCrm) {
    const folder = await cli();
    return async (): Promise<{ events: ChangeEvent[]; stderr: string }> => {
      const { code, stdout, stderr } = await folder.run(['sweep'], {
        CHANGEFEED_BASE_URL: crm.url,
        CHANGEFEED_TOKEN: crm.token,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('✗') as string });
      const lines = stdout.split('\n').filter((line) => line !== '');
      return { events: lines.map((line) => JSON.parse(line) as ChangeEvent), stderr };
    };
  }

  it('sweep: the first is quiet, the second emits exactly the changes, the third nothing', async () => {
    const crm = await startOtherCrm();
    const sweep = await sweeping(crm);
    const first = await sweep();
    expect(first.events).toEqual([]);
    expect(seen(first.stderr)).toEqual({ people: 17, organization: 14, memo: 9, todo: 8, history: 7, activity: 3 });

    const { people, organization, memo, todo, history, activity } = crm.lists;
    // At the front: every cursor behind it now shows other records, none of which has changed.
    people.unshift({ id: 'new-person', 이름: '새 사람', '수정 날짜': '2026-03-02T00:00:00.000Z' });
    edit(people, 9, { '등급/[VIP]': 'B' });
    edit(organization, 13, { 직원수: 99, '수정 날짜': '2026-03-02T00:00:00.000Z' });
    edit(memo, 8, { text: '고친 메모' });
    edit(todo, 0, { 완료: true, '완료 날짜': '2026-03-02T00:00:00.000Z' });
    history.push({ id: 'new-history', type: 'editField', createdAt: '2026-03-02T00:00:00.000Z' });
    activity.push({ id: 'new-activity', type: 'meeting', date: '2026-03-02T00:00:00.000Z' });
    // No changes: keys in another order, a key that is null.
    memo[0] = Object.fromEntries(Object.entries({ ...memo[0]!, leadId: null }).reverse()) as OtherRecord;
    edit(people, 3, { x: people[3]!['x'], 전화: null });

    const second = await sweep();
    expect(second.events.map(said).sort()).toEqual(
      [
        'crm.person.created new-person 1',
        `crm.person.updated ${people[9]!.id} 1 등급/[VIP]: "A" → "B"`,
        `crm.organization.updated ${organization[13]!.id} 1 직원수: 13 → 99`,
        `crm.memo.updated ${memo[8]!.id} 1 text: "메모 8" → "고친 메모"`,
        `crm.todo.updated ${todo[0]!.id} 1 완료: false → true, 완료 날짜: null → "2026-03-02T00:00:00.000Z"`,
        `crm.todo.completed ${todo[0]!.id} 1 완료: false → true, 완료 날짜: null → "2026-03-02T00:00:00.000Z"`,
        'crm.deal_history.created new-history 1',
        'crm.person_activity.created new-activity 1',
      ].sort(),
    );
    expect((await sweep()).events).toEqual([]);
  });
});

function edit(records: OtherRecord[], index: number, change: object): void {
  records[index] = { ...records[index]!, ...change };
}

function seen(summary: string): Record<string, number> {
  const lines = [...summary.matchAll(/^✓ (\w+) .*? (\d+) seen/gm)];
  return Object.fromEntries(lines.map(([, list = '', count]) => [list, Number(count)]));
}

function said({ type, subject, data }: ChangeEvent): string {
  const changes = data.changes.map(
    ({ field, before, after }) => `${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
  );
  return [type, subject, eventNumber(data.sequence), changes.join(', ')].filter((part) => part !== '').join(' ');
}
