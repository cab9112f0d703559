// The checks that need no Redis, as many at a time as there are cores: each by itself leaves a core idle. The output of a check is
// printed when it has ended, so that two do not mix. Fails if one of them fails. `--built`: there is a build already.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

const CHECKS = ['lint', 'typecheck', 'format:check', 'build', 'arrows', 'exports', 'notices', 'sources'];

const waiting = CHECKS.filter((name) => name !== 'build' || !process.argv.includes('--built'));
let failed = false;

async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const { code, output } = await run(name);
    process.stdout.write(`${code === 0 ? 'passed' : 'FAILED'} ${name}\n${output}`);
    failed ||= code !== 0;
  }
}

function run(name) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
process.exitCode = failed ? 1 : 0;
