import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';
import type { Config } from '../../src/config/schema.js';

const TOKEN = 't0p-s3cret-token';
const workspace = { name: 'acme', baseUrl: 'https://crm.example/api', token: TOKEN };
const stdout = { handler: 'ndjson', name: 'out' };
const parse = (raw: unknown, redisUrl?: string): Config =>
  parseConfig(raw, { source: 'changefeed.config.json', redisUrl });
const withWorkspace = (more: object): object => ({ workspaces: [{ ...workspace, ...more }] });
const withList = (more: object): object => withWorkspace({ lists: { people: more } });

function complaintOf(raw: unknown): string {
  try {
    parse(raw);
  } catch (error) {
    expect(error).toMatchObject({ code: 'CF_CONFIG_INVALID' });
    return (error as Error).message;
  }
  throw new Error('The configuration was accepted.');
}

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

  it('configuration: redis may be a URL; the variable REDIS_URL wins over it', () => {
    const raw = { workspaces: [workspace], redis: 'redis://from-file:6379' };
    expect(parse(raw).redis.url).toBe('redis://from-file:6379');
    expect(parse(raw, 'redis://from-env:6379').redis).toEqual({
      url: 'redis://from-env:6379',
      prefix: 'changefeed',
      allowEviction: false,
    });
  });
});

describe('configuration: an invalid value is reported with its path, what was found and what is allowed', () => {
  it.each<[string, unknown, string | RegExp]>([
    ['the whole', undefined, 'the configuration: found nothing; allowed: an object with workspaces'],
    [
      'an unknown option',
      { workspaces: [workspace], subscription: [] },
      /subscription: there is no such option.*"subscriptions"/,
    ],
    ['name', withWorkspace({ name: 'a b' }), `workspaces[0].name: found "a b"; allowed: letters, digits`],
    ['name', { workspaces: [workspace, workspace] }, 'workspaces[1].name: found "acme", the name of workspaces[0] too'],
    [
      'baseUrl',
      withWorkspace({ baseUrl: undefined }),
      /baseUrl: found nothing; allowed: an http.*environment variable, that variable is not set/,
    ],
    ['token', withWorkspace({ token: '' }), /token: found an empty string.*that variable is not set/],
    [
      'token',
      withWorkspace({ token: `Bearer ${TOKEN}` }),
      /token: found a string of \d+ characters; allowed.*without "Bearer"/,
    ],
    ['timeZone', withWorkspace({ timeZone: 'Seoul' }), /timeZone: found "Seoul"; allowed: the IANA name/],
    [
      'lists',
      withWorkspace({ lists: { peple: {} } }),
      /lists\.peple: there is no such list.*"people".*allowed: people, organization/,
    ],
    [
      'lists',
      withWorkspace({ lists: { activity: {}, 'people/activity': {} } }),
      /lists\["people\/activity"\]: the list "activity" is named twice/,
    ],
    [
      'interval',
      withList({ interval: 30 }),
      /lists\.people\.interval: found the number 30; allowed: a duration in quotes/,
    ],
    [
      'subscription',
      { workspaces: [workspace], subscriptions: [{ handler: 'fax' }] },
      /subscriptions\[0\]\.handler: found "fax"/,
    ],
    [
      'subscription',
      { workspaces: [workspace], subscriptions: [stdout, stdout] },
      'subscriptions[1].name: found "out"',
    ],
    [
      'subscription',
      { workspaces: [workspace], subscriptions: [{ ...stdout, workspaces: ['acmee'] }] },
      /subscriptions\[0\]\.workspaces: found "acmee"; allowed.*acme/,
    ],
    [
      'redis',
      { workspaces: [workspace], redis: 'localhost' },
      /redis\.url: found a string of 9 characters; allowed: a URL such as/,
    ],
    ...[
      ['redis://h/one', 'its database is not a number'],
      ['redis+cluster://h:1,h:2/3', 'a Redis Cluster has database 0 only'],
      ['redis+sentinel://h:1,h:2', 'this lacks the name of the master'],
      ['redis+cluster://h:1,', 'this names no host'],
      ['redis+other://h:1', 'this begins with redis+other:'],
    ].map(([url, fault]): [string, object, string] => [
      'redis.url',
      { workspaces: [workspace], redis: { url } },
      `(${fault ?? ''})`,
    ]),
    [
      'redis.cluster',
      { workspaces: [workspace], redis: { cluster: ['h:1', `user:${TOKEN}@h:2`] } },
      /redis\.cluster\[1\]: .*a user, a password or TLS are written in url/,
    ],
    [
      'redis.cluster',
      { workspaces: [workspace], redis: { url: 'redis://h', cluster: ['h:1'] } },
      'redis.cluster: found it next to url; allowed: one of them',
    ],
  ])('configuration: an invalid value is reported: %s', (_field, raw, expected) => {
    const complaint = complaintOf(raw);
    expect(complaint).toMatch(/^changefeed\.config\.json: /);
    expect(complaint).toEqual(
      typeof expected === 'string' ? expect.stringContaining(expected) : expect.stringMatching(expected),
    );
    expect(complaint).not.toContain(TOKEN);
  });

  it('configuration: all problems are reported at once, one per line', () => {
    const raw = {
      workspaces: [{ ...workspace, timeZone: 'x' }],
      redis: 'nowhere',
      subscriptions: [{ handler: 'fax' }],
    };
    expect(complaintOf(raw).split('\n')).toEqual([
      'changefeed.config.json: 3 problems:',
      expect.stringMatching(/^ {2}workspaces\[0\]\.timeZone: /),
      expect.stringMatching(/^ {2}redis\.url: /),
      expect.stringMatching(/^ {2}subscriptions\[0\]\.handler: /),
    ]);
  });

  it('configuration: an error message never repeats a secret given in the wrong place', () => {
    const misplaced = complaintOf(withWorkspace({ baseUrl: TOKEN, token: `Bearer ${TOKEN}` }));
    expect(misplaced).not.toContain(TOKEN);
  });
});
