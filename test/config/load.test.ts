import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { defineConfig } from '../../src/config/schema.js';
import { loadConfig, type LoadedConfig } from '../../src/config/load.js';
import { env } from '../../src/kit/schema/env-variable.js';
import { testFolder } from '../support/folder.js';

class Marker extends Error {}
const library = (): Promise<object> => Promise.resolve({ defineConfig, Marker });
const TOKEN = 't0p-s3cret-token';
const WORKSPACE = `{ name: 'acme', baseUrl: 'https://crm.example', token: '${TOKEN}' }`;
const JSON_CONFIG = JSON.stringify({ workspaces: [{ name: 'acme', baseUrl: 'https://crm.example', token: TOKEN }] });

let cwd: string;
beforeEach(() => void (cwd = testFolder()));

const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
const load = (env: Record<string, string> = {}, path?: string): Promise<LoadedConfig> =>
  loadConfig({ cwd, env, path, library });
const complaint = (env?: Record<string, string>, path?: string): Promise<{ code: string; message: string }> =>
  load(env, path).then(
    () => ({ code: 'none', message: 'It was loaded.' }),
    (error: unknown) => error as { code: string; message: string },
  );

describe('http of the environment', () => {
  it('http of the environment: wins over a file, and is checked as the options are', async () => {
    const file = {
      ...(JSON.parse(JSON_CONFIG) as object),
      http: { port: 1, tokens: { read: 'read-7f1e9a4c02d8b635' } },
    };
    write('changefeed.config.json', JSON.stringify(file));
    const operate = 'operate-7f1e9a4c02d8b635';
    const variables = { CHANGEFEED_HTTP_HOST: '0.0.0.0', CHANGEFEED_HTTP_PORT: '4099', CHANGEFEED_HTTP_TOKEN: operate };
    const { config } = await load(variables);
    const tokens = { read: 'read-7f1e9a4c02d8b635', operate };
    expect(config.http).toMatchObject({ host: '0.0.0.0', port: 4099, tokens });
    expect(await complaint({ CHANGEFEED_HTTP_PORT: 'http' })).toMatchObject({
      code: 'CF_CONFIG_INVALID',
      message: expect.stringContaining('http.port: found "http"') as string,
    });
    rmSync(join(cwd, 'changefeed.config.json'));
    const base = { CHANGEFEED_BASE_URL: 'https://crm.example', CHANGEFEED_TOKEN: TOKEN };
    expect((await load({ ...base, ...variables })).config.http).toMatchObject({ port: 4099, tokens: { operate } });
  });
});

describe('secrets in files', () => {
  it('secrets in files: <NAME>_FILE stands for each variable, with a file and without one', async () => {
    const inFile = (name: string, text: string): Record<string, string> => {
      write(name, `${text}\n`);
      return { [`${name}_FILE`]: join(cwd, name) };
    };
    const operate = 'operate-7f1e9a4c02d8b635';
    const files = {
      ...inFile('REDIS_URL', 'redis://:sesame@redis:6379/0'),
      ...inFile('CHANGEFEED_TOKEN', TOKEN),
      ...inFile('CHANGEFEED_HTTP_TOKEN', operate),
    };
    const read = { redis: { url: 'redis://:sesame@redis:6379/0' }, http: { tokens: { operate } } };
    const workspaces = [{ token: TOKEN }];
    const alone = { CHANGEFEED_BASE_URL: 'https://crm.example', ...files };
    expect((await load(alone)).config).toMatchObject({ ...read, workspaces });
    write('changefeed.config.json', JSON_CONFIG.replace(TOKEN, '${CHANGEFEED_TOKEN}'));
    expect((await load(files)).config).toMatchObject({ ...read, workspaces });
    expect((await load({ ...files, CHANGEFEED_TOKEN: 'wins' })).config.workspaces).toMatchObject([{ token: 'wins' }]);
    expect(await complaint({ ...files, CHANGEFEED_TOKEN_FILE: join(cwd, 'gone') })).toMatchObject({
      code: 'CF_CONFIG_UNLOADABLE',
      message: expect.stringMatching(/^CHANGEFEED_TOKEN_FILE names a file that cannot be read \(ENOENT/) as string,
    });
  });

  it('secrets in files: env() in code reads them', () => {
    write('secret', 'sesame\n');
    vi.stubEnv('SECRET_OF_TEST_FILE', join(cwd, 'secret'));
    expect(env('SECRET_OF_TEST')).toBe('sesame');
  });
});

describe('configuration file', () => {
  const typed = `import { defineConfig } from 'crm-changefeed';\nconst name: string = 'x';\nexport default defineConfig({ workspaces: [${WORKSPACE}] });`;
  const plain = `import { defineConfig } from 'crm-changefeed';\nexport default defineConfig({ workspaces: [${WORKSPACE}] });`;

  it.each([
    ['changefeed.config.ts', typed],
    ['changefeed.config.mts', typed],
    ['changefeed.config.js', plain],
    ['changefeed.config.mjs', plain],
    ['changefeed.config.json', JSON_CONFIG],
  ])('configuration file: %s is found and needs no installed package', async (name, text) => {
    write(name, text);
    const { config, source } = await load();
    expect(source).toBe(name);
    expect(config.workspaces).toMatchObject([{ name: 'acme', token: TOKEN }]);
  });

  it('configuration file: is found by path, else by CHANGEFEED_CONFIG, else by its usual name', async () => {
    write('a.json', JSON_CONFIG);
    write('b.json', JSON_CONFIG);
    write('changefeed.config.json', JSON_CONFIG);
    expect((await load({ CHANGEFEED_CONFIG: 'b.json' }, 'a.json')).source).toBe('a.json');
    expect((await load({ CHANGEFEED_CONFIG: 'b.json' })).source).toBe('b.json');
    expect((await load()).source).toBe('changefeed.config.json');
  });

  it.each(['yaml', 'cjs', 'jsonc'])(
    'configuration file: one that ends in .%s is named, not ignored',
    async (ending) => {
      write(`changefeed.config.${ending}`, '');
      expect(await complaint({ CHANGEFEED_BASE_URL: 'https://crm.example', CHANGEFEED_TOKEN: TOKEN })).toMatchObject({
        code: 'CF_CONFIG_UNLOADABLE',
        message: `changefeed.config.${ending}: a configuration file ends in .ts, .mts, .js, .mjs, .json. Write it in one of these forms.`,
      });
      write('changefeed.config.json', JSON_CONFIG);
      expect((await load()).source).toBe('changefeed.config.json');
    },
  );

  it('configuration file: in a CommonJS project may use require and module.exports', async () => {
    write('package.json', '{}');
    write(
      'changefeed.config.js',
      `const { defineConfig } = require('crm-changefeed');\nmodule.exports = defineConfig({ workspaces: [${WORKSPACE}] });`,
    );
    expect((await load()).config.workspaces).toMatchObject([{ name: 'acme', token: TOKEN }]);
  });

  it('configuration file: imports the running package, not a second copy', async () => {
    write('changefeed.config.ts', `import { Marker } from 'crm-changefeed';\nthrow new Marker('mine');`);
    const error = await load().catch((thrown: unknown) => thrown as Error);
    expect((error as Error).cause).toBeInstanceOf(Marker);
  });

  it('configuration file: may import other files of its folder', async () => {
    write('secrets.ts', `export const token: string = '${TOKEN}';`);
    write(
      'changefeed.config.ts',
      `import { token } from './secrets';\nexport default { workspaces: [{ name: 'a', baseUrl: 'http://h', token }] };`,
    );
    expect((await load()).config.workspaces[0]!.token).toBe(TOKEN);
  });
});

describe('environment', () => {
  const enough = { CHANGEFEED_BASE_URL: 'https://crm.example', CHANGEFEED_TOKEN: TOKEN };

  it('environment: is enough without a file', async () => {
    const { config, source } = await load(enough);
    expect(source).toBe('the environment');
    expect(config.workspaces).toMatchObject([{ name: 'default', baseUrl: 'https://crm.example', token: TOKEN }]);
    expect(config.subscriptions).toMatchObject([{ name: 'stdout', handler: 'ndjson', on: ['crm.*'] }]);
    expect(config.redis.url).toBeUndefined();
  });

  it('environment: missing variables are named', async () => {
    const { code, message } = await complaint({ CHANGEFEED_TOKEN: ' ' });
    expect(code).toBe('CF_CONFIG_INVALID');
    expect(message).toMatch(
      /No configuration file was found.*changefeed init.*changefeed demo.*\n.*baseUrl.*Set CHANGEFEED_BASE_URL.*\n.*token.*Set CHANGEFEED_TOKEN/,
    );
  });

  it('environment: REDIS_URL wins over the file', async () => {
    write('changefeed.config.json', JSON_CONFIG);
    expect((await load({ REDIS_URL: 'redis://named:1' })).config.redis.url).toBe('redis://named:1');
    expect((await load({ ...enough, REDIS_URL: '' })).config.redis.url).toBeUndefined();
  });

  it('environment: a form of another tool is refused with the one that is known', async () => {
    write('changefeed.config.json', JSON_CONFIG.replace(TOKEN, '${CRM_TOKEN:-x}'));
    await expect(load({ CRM_TOKEN: 'set' })).rejects.toThrow(
      'workspaces[0].token: "CRM_TOKEN:-x" is not the name of a variable; write ${NAME}, without a default or an operator',
    );
  });

  it('environment: replaces ${…} in a JSON file', async () => {
    write('changefeed.config.json', JSON_CONFIG.replace(TOKEN, '${CRM_TOKEN}'));
    expect((await load({ CRM_TOKEN: TOKEN })).config.workspaces[0]!.token).toBe(TOKEN);
    expect(await complaint()).toMatchObject({
      code: 'CF_CONFIG_INVALID',
      message: expect.stringContaining(
        'changefeed.config.json:1:63: workspaces[0].token: the environment variable CRM_TOKEN is not set',
      ) as string,
    });
  });
});
