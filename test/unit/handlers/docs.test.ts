import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../../src/config/load.js';
import type { ChangefeedError } from '../../../src/errors.js';
import { KINDS } from '../../../src/handlers/registry.js';
import { subscriptionShape } from '../../../src/handlers/options.js';

const page = readFileSync(new URL('../../../docs/handlers.md', import.meta.url), 'utf8');
const shared = Object.keys(subscriptionShape);

/** The options in the first table behind a heading. */
function optionsIn(heading: string): string[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const table = section.split('| option |')[1]?.split('\n\n')[0] ?? '';
  return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, option]) => option ?? '');
}

/** What a handler itself says it takes, when asked for something else. */
function optionsOf(kind: (typeof KINDS)[number]): string[] {
  try {
    kind.build({ name: 'x', '?': 1 }, '');
  } catch (error) {
    return (error as ChangefeedError).message.replace(/^.*?allowed: |\.( \(\d+ more.*)?$/g, '').split(', ');
  }
  return [];
}

describe('the page about handlers', () => {
  it('has the options that all of them take', () => {
    expect(optionsIn('What all handlers have in common')).toEqual(shared);
  });

  it.each(KINDS.map((kind) => [kind.handler, kind] as const))('has the options of %s', (handler, kind) => {
    const own = optionsOf(kind).filter((option) => !shared.includes(option));
    expect(optionsIn(handler)).toEqual(own);
  });
});

describe('an example', () => {
  const folder = fileURLToPath(new URL('../../../examples/', import.meta.url));
  const env = {
    CRM_URL: 'https://crm.example/api',
    CRM_TOKEN: 'token',
    CHAT_URL: 'https://chat.example/hook',
    HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    DATABASE_URL: 'postgres://db.example/crm',
    JOBS_REDIS_URL: 'redis://jobs.example',
  };
  afterEach(() => vi.unstubAllEnvs());
  it.each(readdirSync(folder).filter((name) => name.includes('.config.')))('%s is a configuration', async (name) => {
    for (const [variable, value] of Object.entries(env)) vi.stubEnv(variable, value);
    const { config } = await loadConfig({ cwd: folder, path: name, env: process.env });
    expect(config.subscriptions).toHaveLength(name === 'webhook.config.json' ? 2 : 1);
  });
});
