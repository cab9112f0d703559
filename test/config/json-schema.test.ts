import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../.ci/docs/config-schema.js';
import { projectFiles } from '../../src/cli/init-files.js';

/** Of a pair, a choice or an object that is described where it is used. */
const SELF_EVIDENT = 'after age count delay from handler id retention since to type'.split(' ');

function namesWithoutWords(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { properties?: Readonly<Record<string, { description?: string }>> };
  const own = Object.entries(properties).flatMap(([name, { description }]) =>
    description === undefined ? [name] : [],
  );
  return [...own, ...Object.values(schema).flatMap(namesWithoutWords)];
}

describe('schema of a configuration in JSON', () => {
  it('schema of a configuration in JSON: matches the code (npx vitest run test/config/json-schema.test.ts -u updates it)', async () => {
    await expect(`${JSON.stringify(configJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(
      '../../changefeed.schema.json',
    );
  });

  it('schema of a configuration in JSON: an editor shows what each option means', () => {
    const silent = new Set(namesWithoutWords(configJsonSchema()));
    expect([...silent].sort()).toEqual(SELF_EVIDENT);
  });

  it('schema of a configuration in JSON: accepts the examples and what init writes, and rejects what loading rejects', () => {
    const accepts = new Ajv2020({ strict: false }).compile(configJsonSchema());
    const written = projectFiles({
      format: 'json',
      workspace: 'acme',
      baseUrl: 'https://x',
      token: '',
      lists: ['deal'],
      language: 'ko',
    });
    const example = readFileSync(new URL('../../examples/webhook.config.json', import.meta.url), 'utf8');
    for (const text of [written.get('changefeed.config.json') as string, example])
      expect({ ok: accepts(JSON.parse(text)), errors: accepts.errors }).toEqual({ ok: true, errors: null });
    const workspaces = [{ name: 'acme', baseUrl: 'https://x', token: 't' }];
    expect(accepts({ workspaces, subscriptions: [{ handler: 'ndjson', name: 'x', order: 'recrod' }] })).toBe(false);
    expect(accepts({ workspaces, subscriptions: [{ handler: 'ndjson', name: 'x', timeout: '24 hours' }] })).toBe(false);
    expect(accepts({ workspaces, subscriptions: [{ handler: 'webhok', name: 'x' }] })).toBe(false);
    expect(accepts.errors).toMatchObject([{ instancePath: '/subscriptions/0/handler', keyword: 'enum' }]);
    expect(accepts({ workspaces, telemetry: true, redis: 'redis://127.0.0.1' })).toBe(true);
    expect(accepts({ workspaces, subscriptons: [] })).toBe(false);
    expect(accepts({ workspaces: [{ name: 'acme' }] })).toBe(false);
  });
});
