import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { identityOf, isAlive, thisProcess } from '../../src/kit/process-identity.js';
import { eventually } from '../support/eventually.js';

function shell(script: string) {
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    pid: child.pid!,
    firstLine: once(child.stdout.setEncoding('utf8'), 'data').then(([text]) => String(text)),
  };
}

it('process identity: a process is alive until it has ended', async () => {
  const { child, pid } = shell('exec sleep 60');
  const identity = identityOf(pid);
  expect(identity).toEqual(identityOf(pid));
  expect([isAlive(identity), isAlive(thisProcess)]).toEqual([true, true]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isAlive(identity)).toBe(false);
});

it('process identity: a process that has the id of an earlier one, or of one before a reboot, is another process', () => {
  const { pid } = shell('exec sleep 60');
  const { token } = identityOf(pid);
  expect(isAlive({ pid, token: identityOf(process.pid).token })).toBe(false);
  expect(isAlive({ pid, token: token.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) })).toBe(false);
  expect(isAlive({ pid: process.pid, token: 'of an earlier process' })).toBe(false);
  // The control: by its id alone, the process counts as alive.
  expect(process.kill(pid, 0)).toBe(true);
});

it('process identity: a zombie is not alive', async () => {
  const { child, firstLine } = shell('sleep 60 & echo $!; exec cat');
  const pid = Number(await firstLine);
  // Until `cat` answers, the shell is still running and would collect its children.
  child.stdin.write('ready');
  await once(child.stdout, 'data');
  const identity = identityOf(pid);
  expect(isAlive(identity)).toBe(true);
  process.kill(pid, 'SIGKILL');
  await eventually(() => expect(isAlive(identity)).toBe(false));
  expect(isAlive(identityOf(pid))).toBe(false);
  // The control: its id is still in use.
  expect(process.kill(pid, 0)).toBe(true);
});
