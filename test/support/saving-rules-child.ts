/**
 * Saves the rules of a configuration one after another, one rule more each time, and says what has become of each: `<outcome> <id>`. Where another
 * process was faster, it reads the file again. With the name of a step (such as `renameSync`, or
 * `rmSync 2` for the second one), it is killed instead of doing it.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { changeRules } from '../../src/config/change-rules.js';
import { loadConfig } from '../../src/config/load.js';
import { rulesOf } from '../../src/config/rules.js';

const [cwd = '.', prefix = 'r', count = '100', deadlyStep] = process.argv.slice(2);
const { config } = await loadConfig({ cwd, env: {} });
fs.writeSync(1, 'ready\n');
// Those that are to be in each other's way begin in the same moment.
const { SAVE_WHEN: sign } = process.env;
while (sign !== undefined && !fs.existsSync(sign)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
if (deadlyStep !== undefined) {
  const [step = '', nth = '1'] = deadlyStep.split(' ');
  const original = Reflect.get(fs, step) as (...args: unknown[]) => unknown;
  let left = Number(nth);
  const deadly = (...args: unknown[]): unknown =>
    (left -= 1) === 0 ? process.kill(process.pid, 'SIGKILL') : original(...args);
  Object.assign(fs, { [step]: deadly });
  syncBuiltinESMExports();
}
for (let nth = 0; nth < Number(count);) {
  const revision = rulesOf(config).file?.revision ?? '';
  const one = { id: `${prefix}${nth}`, to: 'ops', on: ['crm.person.*'] as const, title: 'x'.repeat(190) };
  const changed = await changeRules(config, revision, (all) => [...all.filter(({ id }) => id !== one.id), one]);
  fs.writeSync(1, `${changed.outcome} ${one.id}\n`);
  if (changed.outcome === 'refused') throw new Error(changed.why);
  if (changed.outcome === 'saved') nth += 1;
}
