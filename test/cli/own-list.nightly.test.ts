import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { useCli } from '../support/cli.js';
import { startOtherCrm } from '../support/other-crm.js';
import { redisBinary } from '../support/private-redis.js';

/** A configuration in JSON with one list that is not built in; only that list is polled. */
function configOf(url: string, token: string, deal: object): Record<string, object> {
  const off = Object.fromEntries(
    ['people', 'organization', 'memo', 'todo', 'history', 'activity'].map((list) => [list, { enabled: false }]),
  );
  const workspace = { name: 'acme', baseUrl: url, token, lists: { ...off, deal }, todos: { watch: false } };
  const subscriptions = [{ handler: 'ndjson', name: 'out', on: ['crm.deal.*'], lists: ['deal'] }];
  return { 'changefeed.config.json': { workspaces: [workspace], subscriptions } };
}

describe.skipIf(redisBinary === undefined)('lists: a list that a JSON configuration adds', () => {
  const cli = useCli();

  it('lists: an added list is swept, published, shown in the status and explained', { timeout: 240_000 }, async () => {
    const crm = await startOtherCrm();
    const folder = await cli(
      configOf(crm.url, crm.token, { path: 'deal', object: 'deal', removals: { confirm: 1, after: '0s' } }),
    );
    const first = await folder.run(['sweep']);
    expect(first).toMatchObject({ code: 0, stdout: '' });
    expect(first.stderr).toMatch(/✓ deal +baseline +9 seen/);

    const { deal } = crm.lists;
    deal[8] = { ...deal[8]!, 금액: 99, '수정 날짜': '2026-03-02T00:00:00.000Z' };
    const [gone] = deal.splice(2, 1);
    deal.unshift({ id: 'new-deal', 금액: 1, '수정 날짜': '2026-03-02T00:00:00.000Z' });
    const changed = deal[8].id;
    const second = await folder.run(['sweep', 'deal']);
    const events = second.stdout.split('\n').filter((line) => line !== '');
    expect(
      events
        .map((line) => JSON.parse(line) as ChangeEvent)
        .map(({ type, subject }) => `${type} ${subject}`)
        .sort(),
    ).toEqual([`crm.deal.created new-deal`, `crm.deal.deleted ${gone!.id}`, `crm.deal.updated ${changed}`].sort());

    const schema = await folder.run(['schema', 'deal', '--types']);
    expect(schema.stdout).toContain('export interface Deal {');
    const written = await folder.run(['schema', 'deal', '--types', '-o', 'records.d.ts']);
    expect(written).toMatchObject({ code: 0, stdout: '' });
    expect(await readFile(join(folder.cwd, 'records.d.ts'), 'utf8')).toBe(schema.stdout);
    const story = await folder.run(['explain', 'deal', changed]);
    // What changed comes first, with its values.
    const [name, , decided, change] = story.stdout.split('\n');
    expect(name).toBe(`deal ${changed}`);
    expect(decided).toMatch(/^  \d{4}-\d\d-\d\d \d\d:\d\d  edited$/);
    expect(change).toMatch(/^    금액: \d+ → 99$/);
    expect(story.stdout).toMatch(/\n1 event so far; on page 2 [^]*\nCompared: \d+ fields; --verbose names them\.\n$/);
    expect((await folder.run(['explain', 'deal', changed, '--verbose'])).stdout).toMatch(/\nCompared: .*금액/);
    const status = await folder.run(['status', '--json']);
    const { workspaces } = JSON.parse(status.stdout) as { workspaces: { lists: { list: string }[] }[] };
    expect(workspaces[0]!.lists.map(({ list }) => list)).toContain('deal');
    expect(await folder.run(['sweep', 'deel'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no list "deel" (did you mean "deal"?).') as string,
    });
  });
});
