/** A simulated CRM for integration tests: `openChangefeed` polls it like the real one. */
import { createSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.js';

/** A sandbox that serves. */
export interface RunningSandbox {
  /** For a workspace of a configuration: `workspaces: [{ name: 'test', ...sandbox.workspace }]`. */
  readonly workspace: { readonly baseUrl: string; readonly token: string };
  /** `sandbox.life` changes single records, `sandbox.step(n)` makes n changes by chance. */
  readonly sandbox: Sandbox;
  /** Ends its server. */
  stop(): Promise<void>;
}

/** @param options without a limit of requests unless one is given, so that a test need not wait */
export async function startSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
  const sandbox = createSandbox({ people: 50, limit: null, ...options });
  const { url, token } = await sandbox.start();
  return { workspace: { baseUrl: url, token }, sandbox, stop: () => sandbox.stop() };
}
