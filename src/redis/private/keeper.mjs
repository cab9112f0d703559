/**
 * Keeps one private Redis until no process uses it. The spawning process holds the other end of the keeper's standard
 * input, which the system closes however that process ends.
 *
 *   waiting   for the first line of standard input, which says what to start
 *   serving   until standard input ends
 *   leaving   until no user is connected: processes that joined go on without the one that started the server
 *   ending    SIGTERM to the server, which writes its file first; then the lock is removed, and the keeper ends
 *
 * A server that ends by itself ends the keeper. Plain JavaScript, so that Node runs it from the sources as well.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const CHECK_MS = 250;
/** A server that is silent for so long has no users. */
const SILENT_MS = 5_000;

// A signal to all processes of a service must not end the server while others still write to it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
// Only this user may read what the server creates.
process.umask(0o077);

const input = createInterface({ input: process.stdin });
const left = new Promise((resolve) => input.once('close', () => resolve(true)));
input.once('line', (line) => void serve(JSON.parse(line)));

async function serve({ program, dir, config, lock, temporary, ...address }) {
  const server = spawn(program, ['-'], { cwd: dir, stdio: ['pipe', 2, 2] });
  const ended = new Promise((resolve) => server.once('exit', () => resolve(false)).once('error', () => resolve(false)));
  // The configuration goes through standard input: every user of the machine could read a password on the command line.
  server.stdin.on('error', () => undefined).end(config);
  const isLeft = await Promise.race([left, ended]);
  if (isLeft) await untilUnused(address);
  server.kill();
  await ended;
  if (lock) rmSync(lock, { force: true });
  if (isLeft && temporary) rmSync(temporary, { recursive: true, force: true });
  process.exit();
}

/** The keeper's connection then gets the name of the end: who connects later sees it and waits for the next server. */
async function untilUnused({ port, password, names: { user, ending } }) {
  for (;;) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.setTimeout(SILENT_MS, () => socket.destroy(new Error('silent')));
    socket.write(`AUTH ${password}\r\nCLIENT SETNAME ${ending}\r\nCLIENT LIST\r\nPING\r\n`);
    let answer = '';
    try {
      for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
        answer += chunk;
        if (answer.endsWith('+PONG\r\n')) break;
      }
    } catch {
      // The server has ended, or is silent.
    }
    socket.setTimeout(0);
    if (!answer.includes(` name=${user} `)) return;
    socket.destroy();
    await sleep(CHECK_MS);
  }
}
