import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { STACK_OR_COLOUR, useCli, type CliRun } from '../support/cli.js';

const TOKEN = 'tok-5f0c1e9bd2a7';
const world = { CHANGEFEED_BASE_URL: 'http://127.0.0.1:1', CHANGEFEED_TOKEN: TOKEN };

interface Case {
  args: readonly string[];
  env?: Record<string, string>;
  files?: Record<string, string | object>;
  says: RegExp;
  code?: string;
  exit?: number;
}

describe('usage errors: one sentence and exit code 2', () => {
  const cli = useCli();

  async function runAll(cases: Record<string, Case>): Promise<void> {
    const found: Record<string, object> = {};
    const expected: Record<string, object> = {};
    for (const [name, { args, env, files, says, code, exit = 2 }] of Object.entries(cases)) {
      const run: CliRun = await (await cli(files)).call(args, env);
      const { stderr } = run;
      found[name] = { exit: run.code, stderr, stdout: run.stdout, leaks: leaks(run) };
      const sentence = new RegExp(`^changefeed: .*${says.source}[^]*\\[${code ?? 'CF_USAGE'}\\]\\n$`, says.flags);
      expected[name] = { exit, stderr: expect.stringMatching(sentence) as string, stdout: '', leaks: false };
    }
    expect(found).toEqual(expected);
  }

  it('usage errors: on the command line', async () => {
    await runAll({
      'an unknown command': { args: ['sweeep'], says: /unknown command 'sweeep' \(did you mean sweep\?\)/ },
      'an unknown command with --help': { args: ['sweeep', '--help'], says: /unknown command 'sweeep'/ },
      'help for an unknown command': { args: ['help', 'sweeep'], says: /unknown command 'sweeep'/ },
      'an unknown profile': {
        args: ['sandbox', '--profile', 'wld'],
        says: /profile "wld"\. "changefeed sandbox --profile list"/,
      },
      'an unknown option': {
        args: ['sweep', '--jsn'],
        says: /unknown option '--jsn' \(did you mean --json\?\)\. See "changefeed sweep --help"/,
      },
      'an argument too many': { args: ['status', 'now'], says: /too many arguments/ },
      'an option without its value': { args: ['tail', '--from'], says: /argument missing/ },
      'an unknown list': {
        args: ['sweep', 'peoples'],
        env: world,
        says: /no list "peoples" \(did you mean "people"\?\).*people, org/,
      },
      'the object of a list instead of its name': {
        args: ['explain', 'person', 'p-1'],
        env: world,
        says: /no list "person" \(did you mean "people"\?\)/,
      },
      'an unknown role': {
        args: ['start', '--only', 'poll,nonsense'],
        says: /--only: found "nonsense"; allowed: poll, d/,
      },
      'no number': { args: ['demo', '--people', 'many'], says: /--people: found "many"; allowed: a whole number/ },
      'no port': { args: ['sandbox', '--port', '99999'], says: /--port: found "99999"; allowed: .* to 65535/ },
      'no rate': { args: ['sandbox', '--rate', '-1'], says: /--rate: found "-1"; allowed: a number, 0 or more/ },
      'no limit': { args: ['sandbox', '--limit', '5'], says: /--limit: found "5"; allowed: .*100\/10s/ },
      'no duration': { args: ['sweep', '--timeout', '5'], says: /--timeout: found "5"; allowed: a duration/ },
      'no place in the log': { args: ['tail', '--from', 'lunch'], says: /--from: found "lunch"; allowed: a log id/ },
      'a type no event has': {
        args: ['tail', '--type', 'crm.people.created'],
        env: world,
        says: /--type: found "crm\.people\.created" \(did you mean "crm\.person\.created"\?\); allowed: crm\.<object>/,
      },
    });
  });

  it('usage errors: on Bun', async () => {
    vi.stubGlobal('Bun', {});
    onTestFinished(() => void vi.unstubAllGlobals());
    await runAll({ 'another runtime': { args: ['sweep'], says: /Bun\. Run it with Node .* or with Deno\./ } });
  });

  it('usage errors: in the configuration', async () => {
    const invalid = 'CF_CONFIG_INVALID';
    const unloadable = 'CF_CONFIG_UNLOADABLE';
    await runAll({
      'a Redis URL that is none': {
        args: ['status'],
        env: { ...world, REDIS_URL: 'localhost' },
        says: /The Redis URL.*must be a URL such as redis:/,
        code: invalid,
      },
      'a log level that is none': {
        args: ['status'],
        env: { ...world, LOG_LEVEL: 'loud' },
        says: /LOG_LEVEL: found "loud"; allowed: debug, info/,
        code: invalid,
      },
      'no such file': {
        args: ['sweep', '--config', 'none.ts'],
        env: world,
        says: /none\.ts: there is no such file/,
        code: unloadable,
      },
      'a file of another type': {
        args: ['sweep', '--config', 'config.yaml'],
        files: { 'config.yaml': '' },
        says: /config\.yaml: a configuration file ends in \.ts, /,
        code: unloadable,
      },
    });
  });

  it('usage errors: a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const run = await (await cli()).call(['sandbox', '--port', String(port)]);
    expect(run).toEqual({
      code: 2,
      stdout: '',
      stderr: `changefeed: --port: ${port} is taken by another program. Use a free port, or 0 for any. [CF_USAGE]\n`,
    });
  });

  it('usage errors: the stack is shown only with LOG_LEVEL=debug', async () => {
    const run = await (await cli()).call(['sweep', '--config', 'none.ts'], { LOG_LEVEL: 'debug' });
    expect(run.stderr).toMatch(/^changefeed: none\.ts: there is no such file.*\[CF_CONFIG_UNLOADABLE\]\n.*\n\s+at /);
  });
});

function leaks({ stdout, stderr }: CliRun): boolean {
  const said = stdout + stderr;
  return said.includes(TOKEN) || STACK_OR_COLOUR.test(said);
}
