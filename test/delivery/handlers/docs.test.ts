import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../../src/config/load.js';
import type { ChangefeedError } from '../../../src/kit/errors.js';
import { backoffMs } from '../../../src/kit/backoff.js';
import { formatDuration } from '../../../src/kit/duration.js';
import { ENDPOINT_RETRY } from '../../../src/delivery/handlers/http/endpoint.js';
import { KINDS } from '../../../src/delivery/handlers/registry.js';
import { subscriptionShape } from '../../../src/delivery/handlers/options.js';

const page = readFileSync(new URL('../../../docs/handlers.md', import.meta.url), 'utf8');
const shared = Object.keys(subscriptionShape);

function optionsIn(heading: string): string[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const table = section.split('| option |')[1]?.split('\n\n')[0] ?? '';
  const cells = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, option]) => option!));
}

/** The page lists the options of this one; configuration.md has those of the others. */
const WITH_OPTIONS = KINDS.filter(({ handler }) => handler === 'todoReport');

/** What a handler itself says it takes, when asked for something else. */
function optionsOf(kind: (typeof KINDS)[number]): string[] {
  try {
    kind.build({ name: 'x', '?': 1 });
  } catch (error) {
    return (error as ChangefeedError).message.replace(/^.*?allowed: |\.( \(\d+ more.*)?$/g, '').split(', ');
  }
  return [];
}

describe('handlers page', () => {
  it.each(WITH_OPTIONS.map((kind) => [kind.handler, kind] as const))(
    'handlers page: lists the options of %s',
    (handler, kind) => {
      const own = optionsOf(kind).filter((option) => !shared.includes(option));
      expect(optionsIn(handler)).toEqual(own);
    },
  );
});

/** The others follow from these: the wait doubles. */
const SHOWN = new Set([1, 2, 3, 5, 8, 10, 12, ENDPOINT_RETRY.attempts]);

function webhookSchedule(): string {
  let [earliestMs, latestMs] = [0, 0];
  const rows = Array.from({ length: ENDPOINT_RETRY.attempts }, (_, index) => {
    if (index === 0) return '| 1 | – | at once |';
    const [shortest, longest] = [0, 1].map((random) => backoffMs(index, ENDPOINT_RETRY, random)) as [number, number];
    earliestMs += shortest;
    latestMs += longest;
    if (!SHOWN.has(index + 1)) return '';
    return `| ${index + 1} | ${between(shortest, longest)} | ${between(earliestMs, latestMs)} |`;
  });
  return ['| try | waits | after the first try |', '|---|---|---|', ...rows.filter((row) => row !== '')].join('\n');
}

const between = (least: number, most: number): string => `${formatDuration(least)} to ${formatDuration(most)}`;

describe('handlers page: the retry schedule of webhooks', () => {
  it('handlers page: the table is generated from the schedule (update: npx vitest run test/delivery/handlers/docs.test.ts -u)', async () => {
    const written = page.replace(/(<!-- schedule: webhook -->\n)[^]*?(<!-- end -->)/, `$1\n${webhookSchedule()}\n\n$2`);
    expect(written).toContain('| 15 |');
    await expect(written).toMatchFileSnapshot('../../../docs/handlers.md');
  });
});

describe('an example', () => {
  const folder = fileURLToPath(new URL('../../../examples/', import.meta.url));
  const env = {
    CRM_URL: 'https://crm.example/api',
    CRM_TOKEN: 'token',
    CHAT_URL: 'https://chat.example/hook',
    SMTP_URL: 'smtp://crm:password@smtp.example:587',
    HOOK_URL: 'https://ops.example/hooks',
    HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    DATABASE_URL: 'postgres://db.example/crm',
    JOBS_REDIS_URL: 'redis://jobs.example',
  };
  afterEach(() => vi.unstubAllEnvs());
  it.each(readdirSync(folder).filter((name) => /\.(ts|mjs|py)$/.test(name)))(
    '%s says at its top how to run it',
    (name) => {
      const [top = ''] = readFileSync(folder + name, 'utf8').split(/\n(?!\/\/)/);
      expect(top).toMatch(
        name.includes('.config.') ? `npx changefeed start --config examples/${name}` : `examples/${name}`,
      );
    },
  );
  it.each(readdirSync(folder).filter((name) => name.includes('.config.')))('%s is a configuration', async (name) => {
    for (const [variable, value] of Object.entries(env)) vi.stubEnv(variable, value);
    const { config } = await loadConfig({ cwd: folder, path: name, env: process.env });
    expect(config.subscriptions).toHaveLength(name === 'webhook.config.json' ? 2 : 1);
  });
});
