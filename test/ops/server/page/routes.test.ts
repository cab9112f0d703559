import { expect, it } from 'vitest';
import { TABLE } from '../../../../src/actions/table.js';

it('page: knows the route of each action (npx vitest run test/ops/server/page/routes.test.ts -u updates it)', async () => {
  const routes = Object.fromEntries(Object.entries(TABLE).map(([name, { route }]) => [name, route]));
  await expect(`${JSON.stringify(routes, null, 2)}\n`).toMatchFileSnapshot('../../../../page/routes.json');
});
