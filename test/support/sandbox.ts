/** Sandboxes of a test, which stop after it. */
import { onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../sandbox/options.js';
import { createSandbox, type Sandbox, type SandboxAddress } from '../../sandbox/sandbox.js';

export interface Served {
  sandbox: Sandbox;
  target: SandboxAddress;
}

export async function served(options: SandboxOptions = {}): Promise<Served> {
  const sandbox = createSandbox({ people: 30, limit: null, ...options });
  onTestFinished(() => sandbox.stop());
  return { sandbox, target: await sandbox.start() };
}
