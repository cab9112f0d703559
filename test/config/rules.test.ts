import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
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

const EACH = isGate ? 20 : 60;

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
    const children = ['a', 'b', 'c'].map((prefix) => spawn(savingChild, { args: [cwd, prefix, String(EACH)] }));
    const ends = await Promise.all(children.map(({ exited }) => exited));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(rulesOf(await load()).rules).toHaveLength(3 * EACH);
    // They were in each other's way.
    expect(children.map(({ stdout }) => stdout).join('')).toMatch(/^changed /m);
    expect(readdirSync(cwd)).toEqual(['changefeed.config.json', 'changefeed.rules.json']);
  });

  it.each(rowsOfGate(1, ['renameSync', 'fsyncSync', 'symlinkSync', 'unlinkSync', 'rmSync']))(
    'rules: a kill while they are saved, at %s, leaves the former file or the new one, and holds up nobody',
    async (step) => {
      await load({ rules: [{ id: 'old', on: ['crm.*'], to: 'ops' }] });
      await spawn(savingChild, { args: [cwd, 'dead', '1', step] }).exited;
      const left = rulesOf(await load()).rules.map(({ id }) => id);
      expect([['old'], ['dead0', 'old']]).toContainEqual(left);
      const next = spawn(savingChild, { args: [cwd, 'next', '2'] });
      expect(await next.exited).toEqual({ code: 0, signal: null });
      expect(rulesOf(await load()).rules.map(({ id }) => id)).toEqual(
        expect.arrayContaining([...left, 'next0', 'next1']),
      );
      expect(next.stdout.match(/^changed/gm) ?? []).toHaveLength(step === 'renameSync' ? 1 : 0);
    },
  );

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

  it.each([
    [
      'a syntax error',
      '{\n  "rules": [\n    { "id": }\n',
      'changefeed.rules.json:3:13: it cannot be read as JSON: value expected.',
    ],
    [
      'another top',
      { rule: [] },
      'changefeed.rules.json:2:3: rule: there is no such option; allowed: an object { "rules": [ … ] }.',
    ],
    ['an array', [], 'changefeed.rules.json:1:1: rules: found nothing; allowed: an object { "rules": [ … ] }.'],
    [
      'a destination that is gone',
      { rules: [{ ...GRADE, to: '영업채팅' }] },
      'changefeed.rules.json:13:7: rules[0].to of rule "grade": there is no destination "영업채팅" (did you mean "영업 채팅"?); allowed: 영업 채팅, ops.',
    ],
    [
      'an address',
      { rules: [{ ...GRADE, url: 'https://elsewhere.example' }] },
      /^changefeed\.rules\.json:14:7: rules\[0\]\.url of rule "grade": there is no such option; allowed: id, title, /,
    ],
    ['headers', { rules: [{ ...GRADE, headers: {} }] }, /headers of rule "grade": there is no such option/],
    ['code', { rules: [{ ...GRADE, transform: 'x' }] }, /transform of rule "grade": there is no such option/],
    [
      'a digest for a webhook',
      { rules: [{ id: 'hook', to: 'ops', digest: { at: '09:00' } }] },
      'changefeed.rules.json:6:7: rules[0].digest of rule "hook": found it, and "ops" is no chat; allowed: for chats.',
    ],
    [
      'an id twice',
      { rules: [GRADE, GRADE] },
      /^changefeed\.rules\.json:16:7: rules\[1\]\.id of rule "grade": found it twice/,
    ],
    [
      'six conditions',
      {
        rules: [
          { ...GRADE, where: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((f) => [f, { changes: true }])) },
        ],
      },
      /allowed: at most 5 conditions\.$/,
    ],
    [
      'a condition that is none',
      { rules: [{ ...GRADE, where: { 등급: 'A' } }] },
      /^changefeed\.rules\.json:9:9: rules\[0\]\.where\.등급 of rule "grade": found/,
    ],
    [
      'no conditions at all',
      { rules: [{ ...GRADE, where: null }] },
      /where of rule "grade": found null; allowed: conditions/,
    ],
    [
      'a long template',
      { rules: [{ ...GRADE, template: 'x'.repeat(4_001) }] },
      /allowed: a text of at most 4,000 characters\.$/,
    ],
    [
      'a placeholder that does not exist',
      { rules: [{ ...GRADE, template: '{{nmae}}' }] },
      /rules\[0\]\.template of rule "grade": found "{{nmae}}"/,
    ],
    [
      'a list that is not read',
      { rules: [{ ...GRADE, on: ['crm.deal.created'] }] },
      /rules\[0\]\.on\[0\] of rule "grade": found "crm.deal.created"/,
    ],
    [
      'a workspace that does not exist',
      { rules: [{ ...GRADE, workspaces: ['other'] }] },
      /rules\[0\]\.workspaces of rule "grade": found "other"/,
    ],
    [
      '201 rules',
      { rules: Array.from({ length: 201 }, (_, at) => ({ ...GRADE, id: `r${at}` })) },
      /rules: found 201 rules; allowed: 200\.$/,
    ],
  ])('rules: a file with %s names line and column', async (_name, rules, message) => {
    expect(await complaint(rules)).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });

  it.each([
    [
      'of an unknown kind',
      { handler: 'postgres', url: 'postgres://u:secret-part@db' },
      /destinations\["영업 채팅"\]\.handler: found "postgres"; allowed: "message" or "webhook"/,
    ],
    ['that selects', { ...CHAT, on: ['crm.*'] }, /destinations\["영업 채팅"\]\.on: there is no such option/],
    [
      'in clear',
      { ...CHAT, url: 'http://hooks.slack.example/secret-part' },
      /destinations\["영업 채팅"\]\.url: .*allowed: https/,
    ],
    [
      'without what signs',
      { handler: 'webhook', url: 'https://ops.example' },
      /destinations\["영업 채팅"\]\.secret: found nothing/,
    ],
  ])('rules: a destination %s is refused without its secret', async (_name, destination, message) => {
    const said = await complaint({ rules: [] }, { destinations: { '영업 채팅': destination } });
    expect(said).toMatch(message);
    expect(said).not.toContain('secret-part');
  });
});
