/** Saves the rules of a configuration again and again, one rule more each time, until it is killed. */
import { changeRules } from '../../src/config/change-rules.js';
import { loadConfig } from '../../src/config/load.js';
import { rulesOf } from '../../src/config/rules.js';

const { config } = await loadConfig({ cwd: process.argv[2] ?? '.', env: {} });
for (let nth = 0; ; nth = (nth + 1) % 100) {
  const revision = rulesOf(config).file?.revision ?? '';
  const one = { id: `r${nth}`, to: 'ops', on: ['crm.person.*'] as const, title: 'x'.repeat(190) };
  const { outcome } = changeRules(config, revision, (all) => [...all.filter(({ id }) => id !== one.id), one]);
  process.stdout.write(`${outcome} ${nth}\n`);
}
