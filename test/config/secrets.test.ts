/** No value of a secret option, nor of one with a misspelt name, is in an error or its frame. Over all options of the schemas. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configReport } from '../../src/cli/program.js';
import { loadConfig } from '../../src/config/load.js';
import { configSchema } from '../../src/config/schema.js';
import type { ChangefeedError } from '../../src/kit/errors.js';
import { KINDS } from '../../src/delivery/handlers/registry.js';
import { problemsOf } from '../../src/kit/schema/explain.js';
import { optionsIn, type SchemaOption } from '../support/schema-options.js';

const NUMBER = 823_746_512_901;
const LEAK = /leak-me|823746512901/;
/** Of each type; the text is too short for a token, and one that has a space in it. */
const VALUES = ['leak-me', 'leak-me leak-me leak-me', NUMBER, ['leak-me', NUMBER], { any: 'leak-me', more: NUMBER }];

const SCHEMAS = [
  { name: 'the configuration', schema: configSchema, around: (raw: object): object => raw },
  ...KINDS.map(({ handler, schema }) => ({
    name: handler,
    schema,
    around: (raw: object): object => ({ subscriptions: [{ handler, name: 'sub', ...raw }] }),
  })),
];
const all = SCHEMAS.flatMap((one) => optionsIn(one.schema).map((option) => ({ ...one, option })));
/** A secret, and an object around one, in whose place people write the secret. */
const isKept = ({ visibility, holds }: SchemaOption): boolean => visibility === 'hidden' || holds;
const kept = all.filter(({ option }) => isKept(option));
const title = ({ name, option }: (typeof all)[number]): string => `${name}: ${option.path.join('.')}`;

function at(path: readonly PropertyKey[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  return step === 0 ? [at(rest, value)] : { [step]: at(rest, value) };
}

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'changefeed-secrets-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function reportOf(file: string, config: object): Promise<string> {
  const json = JSON.stringify(config, null, 1);
  writeFileSync(join(cwd, file), file.endsWith('.json') ? json : `export default ${json};`);
  const error = await loadConfig({ cwd, path: file, env: {} }).then(
    () => new Error('it was loaded'),
    (reason: unknown) => reason as ChangefeedError,
  );
  const report = configReport(error, 1_000) ?? '';
  return `${error.message}\n${report}`;
}

describe('secrets of a configuration', () => {
  it('secrets: options that are named like one are marked', () => {
    const named = all.filter(({ option }) => /token|secret|passw|^url$|^redis$|^payload$/i.test(option.name));
    expect(named.filter(({ option }) => !isKept(option)).map(title)).toEqual([]);
    expect(named.length).toBeGreaterThanOrEqual(12);
  });

  it.each(kept.map((one) => [title(one), one] as const))('secrets: %s is in no error', (_title, { schema, option }) => {
    for (const value of VALUES) {
      const raw = at(option.path, value);
      const { error } = schema.safeParse(raw);
      for (const issue of error?.issues ?? [])
        expect(JSON.stringify(problemsOf(issue, { schema, raw }))).not.toMatch(LEAK);
    }
  });

  it.each(kept.map((one) => [title(one), one] as const))(
    'secrets: %s is in no frame, however its name is written',
    async (_title, { around, option }) => {
      for (const name of [option.name, `${option.name.slice(0, -1)}${option.name.at(-1)?.repeat(2) ?? ''}`, 'xyz'])
        for (const [file, value] of [
          ['a.mjs', VALUES[1]] as const,
          ...VALUES.slice(1).map((one) => ['a.json', one] as const),
        ]) {
          const path = [...option.path.slice(0, -1), name];
          // A wrong option on the line behind it: its frame shows this one.
          const report = await reportOf(file, { ...around(at(path, value) as object), log: 1 });
          expect(report).toContain('log: found the number 1');
          expect(report).not.toMatch(LEAK);
        }
    },
  );

  it('secrets: a value that is none is shown (control)', async () => {
    const shown = await reportOf('a.json', { workspaces: [{ name: 'leak-me leak-me' }] });
    expect(shown.match(/leak-me leak-me/g)).toHaveLength(2);
  });

  it('secrets: the address of an API is shown without what may be one', async () => {
    const shown = async (baseUrl: string): Promise<string> => reportOf('a.mjs', { workspaces: [{ baseUrl }] });
    expect(await shown('ftp://crm.example/api')).toContain('found "ftp://crm.example/api"');
    expect(await shown('crm.example/api')).toContain('found "crm.example/api"');
    expect(await shown('https://crm.example/api?key=leak-me')).toContain('found "https://crm.example/api?…"');
    expect(await shown('https://me:leak-me@/x@crm.example/api')).toContain('found "https://…@crm.example/api"');
    for (const url of ['leak-me', 'https://crm.example/#leak-me', 'https://a:leak-me@x', 'x:leak-me@host'])
      expect(await shown(url)).not.toMatch(LEAK);
  });
});
