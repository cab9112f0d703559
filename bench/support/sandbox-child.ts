/** A sandbox in a process of its own. It sends its address, and edits one person for each message that it gets. */
import { createSandbox } from '../../sandbox/sandbox.js';

export interface SandboxAddress {
  url: string;
  token: string;
}

const sandbox = createSandbox({ people: Number(process.argv[2] ?? 100), rate: 0 });
const { url, token } = await sandbox.start();
process.on('message', () => sandbox.life.editPerson());
process.on('disconnect', () => void sandbox.stop());
process.send?.({ url, token } satisfies SandboxAddress);
