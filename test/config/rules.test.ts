import { chmodSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { changeRules, type ChangedRules } from '../../src/config/change-rules.js';
import { loadConfig } from '../../src/config/load.js';
import { rulesOf } from '../../src/config/rules.js';
import { messageOf } from '../../src/kit/errors.js';
import { problemsOfPrinted } from '../support/cli-schema.js';
import { useCli } from '../support/cli.js';
import { isGate, rowsOfGate } from '../support/night.js';
import { useProcesses } from '../support/process.js';
import { testFolder } from '../support/folder.js';

const CHAT = { handler: 'message', url: 'https://hooks.slack.example/services/T0/secret-part', service: 'slack' };
const HOOK = {
  handler: 'webhook',
  url: 'https://ops.example/hooks',
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
};
const GRADE = { id: 'grade', on: ['crm.person.updated'], where: { 등급: { becomes: 'A' } }, to: '영업 채팅' };

const changesOfAll = (...fields: string[]): object =>
  Object.fromEntries(fields.map((field) => [field, { changes: true }]));
const to = (destination: object): object => ({ destinations: { '영업 채팅': destination } });

const EACH = isGate ? 6 : 60;

describe('rules', () => {
  const cli = useCli();
  const spawn = useProcesses();
  let cwd: string;
  beforeEach(() => void (cwd = testFolder()));

  const write = (name: string, json: unknown): void =>
    writeFileSync(join(cwd, name), typeof json === 'string' ? json : JSON.stringify(json, null, 2));
  const load = async (rules?: unknown, more: object = {}) => {
    write('changefeed.config.json', {
      workspaces: [{ name: 'acme', baseUrl: 'https://crm.example', token: 'token' }],
      destinations: { '영업 채팅': CHAT, ops: HOOK },
      rules: './changefeed.rules.json',
      ...more,
    });
    if (rules !== undefined) write('changefeed.rules.json', rules);
    return (await loadConfig({ cwd, env: {} })).config;
  };
  const complaint = (rules: unknown, more?: object): Promise<string> =>
    load(rules, more).then(() => 'It was loaded.', messageOf);

  it('rules: each that is switched on is a subscription to its destination, named by its id', async () => {
    const off = { ...GRADE, id: 'off', enabled: false };
    const config = await load({ rules: [GRADE, off, { id: 'hook', on: ['crm.*'], to: 'ops' }] });
    expect(config.subscriptions.map(({ name, handler, address }) => ({ name, handler, address }))).toEqual([
      { name: 'rule-grade', handler: 'message', address: 'hooks.slack.example' },
      { name: 'rule-hook', handler: 'webhook', address: 'ops.example' },
    ]);
    expect(rulesOf(config).rules.map(({ id, enabled }) => [id, enabled])).toEqual([
      ['grade', true],
      ['off', false],
      ['hook', true],
    ]);
  });

  const savingChild = new URL('../support/saving-rules-child.ts', import.meta.url);

  it('rules: of processes that save in the same moment, each save stays or is refused, and none is lost', async () => {
    await load();
    const sign = join(testFolder(), 'begin');
    const env = { SAVE_WHEN: sign };
    const children = ['a', 'b', 'c'].map((prefix) => spawn(savingChild, { args: [cwd, prefix, String(EACH)], env }));
    await Promise.all(children.map((one) => one.waitForLine(/^ready/)));
    writeFileSync(sign, '');
    const ends = await Promise.all(children.map(({ exited }) => exited));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(rulesOf(await load()).rules).toHaveLength(3 * EACH);
    // They were in each other's way.
    expect(children.map(({ stdout }) => stdout).join('')).toMatch(/^changed /m);
    expect(readdirSync(cwd)).toEqual(['changefeed.config.json', 'changefeed.rules.json']);
  });

  // The lock is made, written and held; the new file is made, written and moved; the lock is removed.
  const STEPS = ['writeFileSync', 'fstatSync', 'rmSync', 'openSync 2', 'fsyncSync', 'renameSync', 'rmSync 2'];

  it.each(rowsOfGate(2, STEPS))(
    'rules: a kill while they are saved, at %s, leaves the former file or the new one, and holds up nobody for long',
    async (step) => {
      await load({ rules: [{ id: 'old', on: ['crm.*'], to: 'ops' }] });
      expect(await spawn(savingChild, { args: [cwd, 'dead', '1', step] }).exited).toMatchObject({ signal: 'SIGKILL' });
      const left = rulesOf(await load()).rules.map(({ id }) => id);
      expect(left).toEqual(step === 'rmSync 2' ? ['old', 'dead0'] : ['old']);
      const next = spawn(savingChild, { args: [cwd, 'next', '2'] });
      expect(await next.exited).toEqual({ code: 0, signal: null });
      expect(next.stdout).toBe('ready\nsaved next0\nsaved next1\n');
      expect(rulesOf(await load()).rules.map(({ id }) => id)).toEqual([...left, 'next0', 'next1']);
      expect(readdirSync(cwd)).toEqual(['changefeed.config.json', 'changefeed.rules.json']);
    },
  );

  const RULE = { id: 'new', on: ['crm.person.*'], to: 'ops' } as const;
  const save = async (): Promise<ChangedRules> => {
    const config = await load();
    return await changeRules(config, rulesOf(config).file?.revision ?? '', (all) => [...all, RULE]);
  };

  it('rules: nothing that lies in the folder is followed, and only the owner can read what is saved', async () => {
    await load({ rules: [] });
    const elsewhere = join(testFolder(), 'elsewhere');
    writeFileSync(elsewhere, 'theirs');
    const file = join(cwd, 'changefeed.rules.json');
    chmodSync(file, 0o644);
    for (const name of ['.lock', '.next']) symlinkSync(elsewhere, `${file}${name}`);
    expect(await save()).toEqual({ outcome: 'saved' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(elsewhere, 'utf8')).toBe('theirs');
    expect(readdirSync(cwd)).toEqual(['changefeed.config.json', 'changefeed.rules.json']);
  });

  it('rules: a file that is a symbolic link is not saved', async () => {
    await load();
    const elsewhere = join(testFolder(), 'elsewhere');
    writeFileSync(elsewhere, '{ "rules": [] }');
    symlinkSync(elsewhere, join(cwd, 'changefeed.rules.json'));
    expect(await save()).toEqual({
      outcome: 'refused',
      why: 'Nothing was saved, as changefeed.rules.json is a symbolic link: set rules to the file itself.',
    });
    expect(readFileSync(elsewhere, 'utf8')).toBe('{ "rules": [] }');
  });

  it('rules: a save that was suspended until its lock was taken from it does not overwrite that of another process', async () => {
    await load({ rules: [] });
    const config = await load();
    const revision = rulesOf(config).file?.revision ?? '';
    const late = await changeRules(config, revision, (all) => {
      // What the next saver does with a lock that is too old, and its save.
      rmSync(join(cwd, 'changefeed.rules.json.lock'));
      write('changefeed.rules.json.lock', 'of another process');
      write('changefeed.rules.json', { rules: [{ ...RULE, id: 'theirs' }] });
      return [...all, RULE];
    });
    expect(late).toEqual({ outcome: 'changed' });
    expect(rulesOf(config).rules.map(({ id }) => id)).toEqual(['theirs']);
  });

  it('rules: the command lists them, and refuses a file that is not valid', async () => {
    const workspaces = [{ name: 'acme', baseUrl: 'https://crm.example', token: 'token' }];
    const folder = await cli({
      'changefeed.config.json': { workspaces, destinations: { ops: HOOK }, rules: 'rules.json' },
      'rules.json': {
        rules: [{ id: 'hook', title: '새 고객', on: ['crm.person.created'], to: 'ops', enabled: false }],
      },
    });
    const table = await folder.call(['rules']);
    expect({ ...table, stdout: table.stdout.split('\n').map((line) => line.split(/ {2,}/)) }).toEqual({
      code: 0,
      stderr: '',
      stdout: [['rule', 'on', 'to', 'title'], ['hook', 'no', 'ops', '새 고객'], ['']],
    });
    expect(await folder.call(['rules', 'check'])).toMatchObject({
      code: 0,
      stdout: 'rules.json: 1 rule, 0 switched on. All are valid.\n',
    });
    const printed = JSON.parse((await folder.call(['rules', '--json'])).stdout) as unknown;
    expect(problemsOfPrinted('rules', printed)).toEqual([]);
    writeFileSync(join(folder.cwd, 'rules.json'), '{ "rules": [{ "id": "hook", "to": "gone" }] }');
    expect(await folder.call(['rules', 'check'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'rules.json:1:29: rules[0].to of rule "hook": there is no destination',
      ) as unknown,
    });
  });

  it('rules: a file that does not exist yet has none, and is watched with the configuration', async () => {
    await load();
    const { config, files } = await loadConfig({ cwd, env: {} });
    expect(config.subscriptions).toEqual([]);
    expect(files.at(-1)).toBe(join(cwd, 'changefeed.rules.json'));
  });

  const refusals: [what: string, rules: unknown, more?: object][] = [
    ['a syntax error', '{\n  "rules": [\n    { "id": }\n'],
    ['another top', { rule: [] }],
    ['an array', []],
    ['a destination that is gone', { rules: [{ ...GRADE, to: '영업채팅' }] }],
    ['an address', { rules: [{ ...GRADE, url: 'https://elsewhere.example' }] }],
    ['headers', { rules: [{ ...GRADE, headers: {} }] }],
    ['code', { rules: [{ ...GRADE, transform: 'x' }] }],
    ['a digest for a webhook', { rules: [{ id: 'hook', to: 'ops', digest: { at: '09:00' } }] }],
    ['an id twice', { rules: [GRADE, GRADE] }],
    ['six conditions', { rules: [{ ...GRADE, where: changesOfAll('a', 'b', 'c', 'd', 'e', 'f') }] }],
    ['a condition that is none', { rules: [{ ...GRADE, where: { 등급: 'A' } }] }],
    ['no conditions at all', { rules: [{ ...GRADE, where: null }] }],
    ['a long template', { rules: [{ ...GRADE, template: 'x'.repeat(4_001) }] }],
    ['a placeholder that does not exist', { rules: [{ ...GRADE, template: '{{nmae}}' }] }],
    ['a list that is not read', { rules: [{ ...GRADE, on: ['crm.deal.created'] }] }],
    ['a workspace that does not exist', { rules: [{ ...GRADE, workspaces: ['other'] }] }],
    ['201 rules', { rules: Array.from({ length: 201 }, (_, at) => ({ ...GRADE, id: `r${at}` })) }],
    [
      'a destination of an unknown kind',
      { rules: [] },
      to({ handler: 'postgres', url: 'postgres://u:secret-part@db' }),
    ],
    ['a destination that selects', { rules: [] }, to({ ...CHAT, on: ['crm.*'] })],
    ['a destination in clear', { rules: [] }, to({ ...CHAT, url: 'http://hooks.slack.example/secret-part' })],
    ['a destination without what signs', { rules: [] }, to({ handler: 'webhook', url: 'https://ops.example' })],
  ];

  it('rules: what is refused, with line and column, and without secrets (-u updates rules-refused.txt)', async () => {
    const lines: string[] = [];
    for (const [what, rules, more] of refusals) lines.push(`${what}: ${await complaint(rules, more)}`);
    const all = `${lines.join('\n')}\n`;
    expect(all).not.toMatch(/secret-part|It was loaded/);
    await expect(all).toMatchFileSnapshot('./rules-refused.txt');
  });
});
