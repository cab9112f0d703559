import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';
import type { Config } from '../../src/config/schema.js';

const TOKEN = 't0p-s3cret-token';
const workspace = { name: 'acme', baseUrl: 'https://crm.example/api', token: TOKEN };
const stdout = { handler: 'ndjson', name: 'out' };
const parse = (raw: unknown): Config => parseConfig(raw, { source: 'changefeed.config.json' });

describe('configuration: given values', () => {
  it('configuration: given values replace the defaults', () => {
    const config = parse({
      workspaces: [
        {
          ...workspace,
          token: ` ${TOKEN}\n`,
          budget: { requests: 20, perSeconds: 5 },
          timeZone: 'Europe/Berlin',
          lists: {
            'people/activity': { enabled: false, interval: '90s' },
            todo: { interval: '45s', ignore: ['최근*'], only: ['완료'], refreshed: ['등급'], baseline: 'emit' },
          },
        },
        { ...workspace, name: 'other', baseUrl: 'http://127.0.0.1:8080' },
      ],
      subscriptions: [{ ...stdout, workspaces: ['other'] }],
      redis: { url: 'rediss://u:p@redis.example:6380/3', prefix: 'crm:feed' },
      log: { retention: { age: '30d', events: 5 } },
      deadLetters: { retention: { age: '1h', count: 7 } },
    });
    expect(config).toMatchObject({
      workspaces: [
        {
          token: TOKEN,
          budget: { requests: 20, perSeconds: 5 },
          timeZone: 'Europe/Berlin',
          lists: {
            activity: { enabled: false, intervalMs: 90_000 },
            todo: {
              intervalMs: 45_000,
              ignore: ['최근*'],
              only: ['완료'],
              refreshed: ['등급'],
              baseline: 'emit',
            },
          },
        },
        { name: 'other' },
      ],
      subscriptions: [{ name: 'out', handler: 'ndjson' }],
      redis: { url: 'rediss://u:p@redis.example:6380/3', prefix: 'crm:feed' },
      log: { retention: { ageMs: 2_592_000_000, events: 5 } },
      deadLetters: { retention: { ageMs: 3_600_000, count: 7 } },
    });
  });

  it('configuration: redis may be nodes of a cluster', () => {
    const raw = { workspaces: [workspace], redis: { cluster: ['10.0.0.7:6379', '[::1]:7000', 'redis'] } };
    expect(parse(raw).redis).toEqual({
      url: 'redis+cluster://10.0.0.7:6379,[::1]:7000,redis',
      prefix: 'changefeed',
      allowEviction: false,
    });
  });
});
