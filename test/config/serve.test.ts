import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';

const workspace = (name: string) => ({ name, baseUrl: 'https://crm.example/api', token: 'token' });
const [ONE, TWO, THREE] = ['token-one-0123456789', 'token-two-0123456789', 'token-three-0123456789'];
const read = (serve: unknown, names = ['acme']) =>
  parseConfig({ workspaces: names.map(workspace), serve }, { source: 'the test' }).serve;

describe('serve', () => {
  it('serve: hints have a token of their own, and are taken only with one', () => {
    expect(read({ token: ONE })).toMatchObject({ tokens: new Map([['acme', ONE]]), hintTokens: new Map() });
    expect(read({ token: ONE, hintToken: TWO })).toMatchObject({ hintTokens: new Map([['acme', TWO]]) });
    expect(read({ token: { acme: ONE, other: TWO }, hintToken: { other: THREE } }, ['acme', 'other'])).toMatchObject({
      hintTokens: new Map([['other', THREE]]),
    });
  });

  it('serve: the token for hints stands in addresses, so it must not read records too', () => {
    expect(() => read({ token: ONE, hintToken: ONE })).toThrow(
      'serve.hintToken: found the same token as in serve.token; allowed: another one, because it stands in addresses.',
    );
    const both = { token: { acme: ONE, other: TWO }, hintToken: { acme: TWO } };
    expect(() => read(both, ['acme', 'other'])).toThrow('serve.hintToken: found the same token as in serve.token');
  });

  it('serve: a short token is refused, without being shown', () => {
    for (const serve of [{ token: 'fifteen-letters' }, { token: ONE, hintToken: { acme: 'fifteen-letters' } }]) {
      expect(() => read(serve)).toThrow('a token of 16 or more characters without spaces');
      expect(() => read(serve)).not.toThrow('fifteen-letters');
    }
    expect(() => read({ token: ONE, hintToken: { nowhere: TWO } })).toThrow(
      'serve.hintToken.nowhere: there is no such workspace',
    );
  });
});
