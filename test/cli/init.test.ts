import { chmodSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it, onTestFinished } from 'vitest';
import { init } from '../../src/cli/commands/init.js';
import { quietIo } from '../support/cli-page.js';
import { addEnvFile } from '../../src/config/env-file.js';
import { loadConfig } from '../../src/config/load.js';
import { defineConfig } from '../../src/config/schema.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { env } from '../../src/kit/schema/env-variable.js';
import { useCli } from '../support/cli.js';

const library = (): Promise<object> => Promise.resolve({ defineConfig, defineHandler, env });
const TOKEN = 'tok-5f0c1e9bd2a7';

describe('init', () => {
  const cli = useCli();
  const read = (cwd: string, name: string): string => readFileSync(join(cwd, name), 'utf8');

  it.each([
    ['ts', 'changefeed.config.ts', 'log-changes'],
    ['js', 'changefeed.config.mjs', 'log-changes'],
    ['json', 'changefeed.config.json', 'events'],
  ])('init: writes a project in %s that loads', async (format, config, subscription) => {
    const folder = await cli();
    const args = ['--workspace', 'acme', '--token', TOKEN, '--format', format, '--lists', 'people_history,deal'];
    const run = await folder.call(['init', '--yes', ...args]);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.stdout).toContain(config);
    expect(run.stdout).not.toContain(TOKEN);
    expect(read(folder.cwd, '.env')).toContain(`CRM_TOKEN=${TOKEN}\n`);
    expect(read(folder.cwd, '.gitignore')).toBe('.env\n.changefeed/\n');
    expect(read(folder.cwd, config)).not.toContain(TOKEN);
    process.env['CRM_TOKEN'] = TOKEN;
    const loaded = await loadConfig({ cwd: folder.cwd, env: process.env, library }).finally(
      () => delete process.env['CRM_TOKEN'],
    );
    expect(loaded.source).toBe(config);
    const { deal, people_history, lead } = loaded.config.workspaces[0]!.lists;
    expect([deal?.enabled, people_history?.enabled, lead]).toEqual([true, true, undefined]);
    expect(loaded.config.workspaces).toMatchObject([
      { name: 'acme', baseUrl: 'https://salesmap.kr/api', token: TOKEN },
    ]);
    expect(loaded.config.subscriptions.map(({ name }) => name)).toEqual([subscription]);
  });

  it('init: on a Korean terminal it speaks and writes Korean, and so does what people read later', async () => {
    const folder = await cli();
    const { code, stdout } = await folder.call(['init', '--yes'], { LANG: 'ko_KR.UTF-8' });
    const steps = stdout.slice(stdout.indexOf('다음 단계:'));
    expect([code, steps]).toEqual([0, expect.stringContaining('npx changefeed start   그 뒤로 고객이 바뀔 때마다')]);
    const written = ['changefeed.config.ts', 'handlers/log-changes.ts', '.env'].map((name) => read(folder.cwd, name));
    for (const comment of written
      .join('\n')
      .matchAll(/^ *(?:\/\/|#|\*) (?!lists: |budget: |webhook\(|redis: |destinations: )(.*)$/gm))
      expect(comment[1]).toMatch(/[가-힣]/);
    expect(written[0]).toContain("language: 'ko'");
    expect(steps).toContain('npx changefeed invite <이름>');
    expect(written[0]).toContain("rules: './changefeed.rules.json'");
    const refusals = [
      [['--workspace', '세일즈팀', '--yes'], '--workspace: 쓸 수 있는 것: 영문자, 숫자'],
      [[], 'init: 물어볼 터미널이 없습니다.'],
    ] as const;
    for (const [args, text] of refusals) {
      const refused = await (await cli()).call(['init', ...args], { LANG: 'ko_KR.UTF-8' });
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(text) as string });
      expect(refused.stderr).toContain('아무것도 쓰지 않았습니다.');
    }
    const english = await cli();
    await english.call(['init', '--yes', '--language', 'en'], { LANG: 'ko_KR.UTF-8' });
    expect(read(english.cwd, 'changefeed.config.ts')).not.toContain('language:');
  });

  it('init: overwrites nothing, and adds the lines that are missing', async () => {
    const folder = await cli({ '.env': 'CRM_TOKEN=mine', '.gitignore': 'node_modules\n/.env' });
    expect(await folder.call(['init', '--yes', '--token', TOKEN])).toMatchObject({ code: 0, stderr: '' });
    expect(read(folder.cwd, '.env')).toBe('CRM_TOKEN=mine');
    expect(read(folder.cwd, '.gitignore')).toBe('node_modules\n/.env\n.changefeed/\n');
    const config = read(folder.cwd, 'changefeed.config.ts');
    const again = await folder.call(['init', '--yes', '--workspace', 'other']);
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toMatch(/^changefeed: init: .*changefeed\.config\.ts\. Nothing was written\. \[CF_USAGE\]\n$/);
    expect(read(folder.cwd, 'changefeed.config.ts')).toBe(config);
  });

  it(
    'init: asks for --yes without a terminal, and refuses what the configuration would refuse',
    { timeout: 30_000 },
    async () => {
      const folder = await cli();
      expect(await folder.call(['init'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/--yes/) as string });
      const wrong = await folder.call(['init', '--yes', '--base-url', 'ftp://x']);
      expect(wrong).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/--base-url: .*begins with ftp/) as string,
      });
      expect(() => read(folder.cwd, '.env')).toThrow();
    },
  );

  it('init: only the owner can read .env, also when it was there before', async () => {
    const folder = await cli({ '.env': 'OTHER=1\n', '.gitignore': '.env\n.changefeed\n' });
    chmodSync(join(folder.cwd, '.env'), 0o644);
    expect(await folder.call(['init', '--yes', '--token', TOKEN])).toMatchObject({ code: 0 });
    expect(read(folder.cwd, '.env')).toBe(
      `OTHER=1\n# The token of the CRM's API, without "Bearer".\nCRM_TOKEN=${TOKEN}\n`,
    );
    expect(statSync(join(folder.cwd, '.env')).mode & 0o777).toBe(0o600);
    expect(read(folder.cwd, '.gitignore')).toBe('.env\n.changefeed\n');
  });

  it('init: the token can come from standard input', async () => {
    const { cwd } = await cli();
    const command = new Command('init');
    init(command, { ...quietIo, cwd, readInput: () => Promise.resolve(`${TOKEN}\n`) }, () => {});
    await command.parseAsync(['--yes', '--token', '-'], { from: 'user' });
    expect(read(cwd, '.env')).toContain(`CRM_TOKEN=${TOKEN}\n`);
  });

  it.each(['ts', 'json'])('init: what is given is text in %s, whatever it has of the language', async (format) => {
    const folder = await cli();
    const baseUrl = `https://h/x',token:String(process.exit(7))+'/\${HOME}\\"`;
    const args = ['--base-url', baseUrl, '--token', 'abc#def"g\\n', '--format', format];
    expect(await folder.call(['init', '--yes', ...args])).toMatchObject({ code: 0, stderr: '' });
    const env = { ...process.env, CRM_TOKEN: undefined };
    onTestFinished(addEnvFile(folder.cwd, env));
    process.env['CRM_TOKEN'] = env.CRM_TOKEN;
    onTestFinished(() => {
      delete process.env['CRM_TOKEN'];
    });
    const { config } = await loadConfig({ cwd: folder.cwd, env, library });
    expect(config.workspaces).toMatchObject([
      { baseUrl: 'https://h/x%27,token:String(process.exit(7))+%27/$%7BHOME%7D/%22', token: 'abc#def"g\\n' },
    ]);
  });

  it.each([
    ['a token with all kinds of quotes', `#a'"\``, {}],
    ['an earlier quote without end', `#a'"`, { '.env': 'OTHER=`x\n' }],
  ])('init: %s is refused before anything is written', async (_what, token, files: Record<string, string>) => {
    const folder = await cli(files);
    const run = await folder.call(['init', '--yes', '--token', token]);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringMatching(/CRM_TOKEN in the environment/) as string });
    expect(readdirSync(folder.cwd)).toEqual(Object.keys(files));
  });
});
