/** docs/sandbox.md: each request of its table is sent to a sandbox. */
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import { ROOT } from '../../.ci/docs/markdown.js';

const page = readFileSync(`${ROOT}docs/sandbox.md`, 'utf8');
const requests = [...page.matchAll(/^\| `(GET|POST|PUT|PATCH|DELETE) (\S+)` \| (?:`([^`]+)`)? ?\| (.*) \|$/gm)].map(
  ([, method = '', path = '', body]) => ({ method, path, ...(body !== undefined && { body }) }),
);

it('sandbox page: every request of the control API is answered', async () => {
  const sandbox = createSandbox({ people: 10, control: {} });
  onTestFinished(() => sandbox.stop());
  const { control } = await sandbox.start();
  const record = `people/${sandbox.world.idOf('people', 0)}`;
  const answers = await Promise.all(
    requests.map(async ({ method, path, body }) => {
      const headers = {
        authorization: `Bearer ${control?.token ?? ''}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const url = `${control?.url ?? ''}${path.replace('{list}/{id}', record)}`;
      const { status } = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
      return `${method} ${path} ${status}`;
    }),
  );
  expect(answers).toEqual(requests.map(({ method, path }) => `${method} ${path} 200`));
  expect(requests.length).toBe(13);
  expect([sandbox.token, sandbox.rate]).toEqual(['second', 5]);
});
