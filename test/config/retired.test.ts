import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';

const WHO = { source: 'the test', redisUrl: undefined };
const workspaces = [{ name: 'acme', baseUrl: 'https://x', token: 't' }];

it.each([
  [
    'telemetry: { … }',
    { telemetry: { queues: true } },
    'telemetry: true (what BullMQ records, by the package bullmq-otel)',
  ],
])('configuration: the removed %s gets one sentence that says what to use instead', (name, raw, instead) => {
  expect(() => parseConfig({ workspaces, ...raw }, WHO)).toThrow(`"${name}" was removed; use ${instead} instead.`);
});
