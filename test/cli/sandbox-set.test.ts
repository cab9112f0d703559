import { expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import { useCli } from '../support/cli.js';

const cli = useCli();

it('sandbox set: makes one chosen edit in a running sandbox, and says what stands there now or why not', async () => {
  const sandbox = createSandbox({ people: 5, control: { token: 'mine' } });
  onTestFinished(() => sandbox.stop());
  const { control } = await sandbox.start();
  const { port } = new URL(control?.url ?? '');
  const id = sandbox.world.idOf('people', 0);
  const folder = await cli();
  const set = (...args: string[]) =>
    folder.call(['sandbox', 'set', 'people', id, ...args, '--control', port, '--control-token', 'mine']);
  expect(await set('등급=A', '주력 제품=')).toMatchObject({
    ...{ code: 0, stdout: `people ${id}  등급: A  주력 제품: —\n`, stderr: '' },
  });
  expect(sandbox.world.image('people', 0)).toMatchObject({ 등급: 'A', '주력 제품': null });
  expect(await set('등굽=A')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "등급"?') as string,
  });
  expect(await set('등급')).toMatchObject({ code: 2, stderr: expect.stringContaining('field=value') as string });
  await sandbox.stop();
  expect(await set('등급=B')).toMatchObject({ code: 2, stderr: expect.stringContaining('--control') as string });
});
