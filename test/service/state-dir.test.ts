import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stateDirOf } from '../../src/service/state-dir.js';
import { testFolder } from '../support/folder.js';

it('state directory: CHANGEFEED_STATE_DIR, else the project folder, else the state directory of the user', () => {
  const cwd = testFolder();
  expect(stateDirOf({ cwd, env: {}, home: '/home/u' })).toBe('/home/u/.local/state/changefeed');
  expect(stateDirOf({ cwd, env: { XDG_STATE_HOME: '/s' }, home: '/home/u' })).toBe('/s/changefeed');
  writeFileSync(join(cwd, 'changefeed.config.json'), '{}');
  expect(stateDirOf({ cwd, env: {}, home: '/home/u' })).toBe(join(cwd, '.changefeed'));
  expect(stateDirOf({ cwd, env: { CHANGEFEED_STATE_DIR: 'here' }, home: '/home/u' })).toBe(join(cwd, 'here'));
  expect(stateDirOf({ cwd, env: { CHANGEFEED_STATE_DIR: '/there' }, home: '/home/u' })).toBe('/there');
});

it('state directory: outside a project, each base URL of the environment has its own folder', () => {
  const cwd = testFolder();
  const at = (baseUrl: string, env = {}): string => stateDirOf({ cwd, env, home: '/home/u', baseUrl });
  expect(at('https://CRM.example:443/api/')).toBe(at('https://crm.example/api'));
  expect(at('https://crm.example/api')).toMatch(/^\/home\/u\/\.local\/state\/changefeed\/crm\.example-[0-9a-f]{8}$/);
  const others = [
    'https://crm.example/other',
    'http://crm.example/api',
    'https://crm.example:8443/api',
    'http://[::1]/api',
  ];
  expect(new Set([...others.map((one) => at(one)), at('https://crm.example/api')]).size).toBe(5);
  expect(at('https://crm.example/api', { CHANGEFEED_STATE_DIR: '/there' })).toBe('/there');
  writeFileSync(join(cwd, 'package.json'), '{}');
  expect(at('https://crm.example/api')).toBe(join(cwd, '.changefeed'));
});
