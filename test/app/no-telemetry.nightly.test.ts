import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import { useCli } from '../support/cli.js';
import { useRedis } from '../support/redis.js';

/** Its last line names how many modules of OpenTelemetry the process has loaded. */
const CONFIG = `
  import { createRequire } from 'node:module';
  const { cache } = createRequire(import.meta.url);
  process.on('exit', () => {
    const loaded = Object.keys(cache).filter((file) => file.includes('@opentelemetry'));
    process.stdout.write('loaded: ' + loaded.length + '\\n');
  });
  export default {
    workspaces: [{ name: 'acme', baseUrl: process.env.CRM, token: 'sandbox', todos: { watch: false } }],
    redis: { prefix: process.env.PREFIX },
    telemetry: process.env.TRACES === '1',
    subscriptions: [],
  };`;

/** In processes of their own: other tests load OpenTelemetry into this one. */
describe('telemetry that is off', () => {
  const redis = useRedis();
  const cli = useCli();

  it('telemetry: while it is off, nothing of it is loaded or logged; it is loaded where it is on, which warns without an SDK', async () => {
    const sandbox = createSandbox({ people: 20, limit: null });
    const { url } = await sandbox.start();
    onTestFinished(() => sandbox.stop());
    const folder = await cli({ 'changefeed.config.mjs': CONFIG });
    const sweep = async (traces: string) => {
      const env = { REDIS_URL: redis.url, PREFIX: redis.keys.prefix, CRM: url, TRACES: traces };
      const { code, stdout, stderr } = await folder.run(['sweep', 'people'], env);
      expect(code).toBe(0);
      return { loaded: Number(/^loaded: (\d+)$/m.exec(stdout)?.[1]), stderr };
    };
    const fieldsOfEntries = async (): Promise<string[][]> => {
      const entries = await redis.redis.xrange(redis.keys.log('acme'), '-', '+');
      return entries.map(([, fields]) => fields.filter((_, index) => index % 2 === 0));
    };

    expect((await sweep('')).stderr).not.toContain('OpenTelemetry');
    sandbox.life.createPerson();
    expect((await sweep('')).loaded).toBe(0);
    expect(await fieldsOfEntries()).toEqual([['event']]);

    const on = await sweep('1');
    expect(on.loaded).toBeGreaterThan(0);
    expect(on.stderr).toContain('no OpenTelemetry SDK is set up');
    sandbox.life.createPerson();
    await sweep('1');
    expect(await fieldsOfEntries()).toEqual([['event'], ['event']]);
  });
});
