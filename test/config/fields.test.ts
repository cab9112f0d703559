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

const httpOf = (http: unknown) => parse({ workspaces: [workspace], http }).http;
const TOKENS = { read: 'read-token-7305918264', operate: 'operate-token-7305918264' };

describe('http', () => {
  it('http: is on the loopback address unless it is switched off', () => {
    expect(httpOf(undefined)).toMatchObject({ enabled: true, host: '127.0.0.1', tokens: {} });
    expect(httpOf({ enabled: false })).toMatchObject({ enabled: false });
  });

  it.each(['0.0.0.0', '::', '192.168.0.7', 'crm.internal'])('http: %s is possible with a token or a proxy', (host) => {
    expect(httpOf({ host, tokens: { read: TOKENS.read } })).toMatchObject({ host });
    expect(httpOf({ host, trustedProxy: { from: ['10.0.0.0/8'] } })).toMatchObject({ host });
  });

  it.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('http: %s needs neither', (host) => {
    expect(httpOf({ host })).toMatchObject({ host });
  });

  it('http: a proxy may ask under further names', () => {
    const hosts = (given: unknown) =>
      httpOf({ trustedProxy: { from: ['10.0.0.7'], hosts: given } }).trustedProxy?.hosts;
    expect(hosts(undefined)).toEqual([]);
    expect(hosts(['Status.Example', '[::7]'])).toEqual(['status.example', '[::7]']);
  });
});

const [ONE, TWO, THREE] = ['token-one-7305918264', 'token-two-7305918264', 'token-three-7305918264'];
const serveOf = (serve: unknown, names = ['acme']) =>
  parse({ workspaces: names.map((name) => ({ ...workspace, name })), serve }).serve;

describe('serve', () => {
  it('serve: hints have a token of their own, and are taken only with one', () => {
    expect(serveOf({ token: ONE })).toMatchObject({ tokens: new Map([['acme', ONE]]), hintTokens: new Map() });
    expect(serveOf({ token: ONE, hintToken: TWO })).toMatchObject({ hintTokens: new Map([['acme', TWO]]) });
    expect(serveOf({ token: { acme: ONE, other: TWO }, hintToken: { other: THREE } }, ['acme', 'other'])).toMatchObject(
      {
        hintTokens: new Map([['other', THREE]]),
      },
    );
  });
});
