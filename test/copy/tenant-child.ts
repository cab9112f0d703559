/** A process of a host: it runs all roles until it is killed, and posts each event to where the data of its workspace says. */
import { parseConfig } from '../../src/config/parse.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { openChangefeed } from '../../src/service/changefeed.js';

const { TENANT_CONFIG: given = '{}', TENANT_HOOKS: hooks = '' } = process.env;
const handler = defineHandler({
  name: 'hooks',
  on: ['crm.person.*'],
  async handle(event, { workspace, signal }) {
    const url = `${hooks}/${String(workspace.data['hook'])}`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(event), signal });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
  },
});
const feed = await openChangefeed({ config: parseConfig({ ...JSON.parse(given), subscriptions: [handler] }, {}) });
process.once('disconnect', () => process.exit());
await feed.start();
process.stdout.write('running\n');
