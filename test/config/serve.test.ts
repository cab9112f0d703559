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
});
