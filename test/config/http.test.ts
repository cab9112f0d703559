import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';

const workspaces = [{ name: 'acme', baseUrl: 'https://crm.example/api', token: 'token' }];
const read = (http: unknown) => parseConfig({ workspaces, http }, { source: 'the test' }).http;
const TOKENS = { read: 'read-token-0123456789', operate: 'operate-token-0123456789' };

describe('http', () => {
  it('http: is on the loopback address unless it is switched off', () => {
    expect(read(undefined)).toMatchObject({ enabled: true, host: '127.0.0.1', tokens: {} });
    expect(read({ enabled: false })).toMatchObject({ enabled: false });
  });

  it.each(['0.0.0.0', '::', '192.168.0.7', 'crm.internal'])('http: %s is possible with a token or a proxy', (host) => {
    expect(read({ host, tokens: { read: TOKENS.read } })).toMatchObject({ host });
    expect(read({ host, trustedProxy: { from: ['10.0.0.0/8'] } })).toMatchObject({ host });
  });

  it.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('http: %s needs neither', (host) => {
    expect(read({ host })).toMatchObject({ host });
  });

  it('http: a proxy may ask under further names', () => {
    const hosts = (given: unknown) => read({ trustedProxy: { from: ['10.0.0.7'], hosts: given } }).trustedProxy?.hosts;
    expect(hosts(undefined)).toEqual([]);
    expect(hosts(['Status.Example', '[::7]'])).toEqual(['status.example', '[::7]']);
  });
});
