/** The processes of a storm, each in a slot: killed, restarted, stopped and replaced. */
import type { TestProcess } from '../support/spawned.js';
import { startProcess } from '../support/spawned.js';
import { systemClock } from '../../src/runtime/clock.js';
import { LOCK_MS, selfHarmOf, type Mishap, type Role } from './plan.js';
import { note } from './journal.js';
import type { StormTask } from './storm-child.js';

const child = new URL('./storm-child.ts', import.meta.url);
const LOOK_MS = 40;

interface Slot {
  role: Role;
  process: TestProcess;
  /** Something is being done to it. */
  busy: boolean;
}

type ProcessMishap = Extract<Mishap, { role: Role }>;

export class Crew {
  readonly #task: Omit<StormTask, 'role' | 'harm'>;
  readonly #slots: Slot[] = [];
  readonly #all = new Set<TestProcess>();
  /** Processes that stopped themselves and have been seen to. */
  readonly #thawed = new Set<number>();
  readonly #watching = new AbortController();
  readonly #counts: Record<string, number> = {};
  #watch: Promise<void> = Promise.resolve();
  #generation = 0;
  #harmless = false;

  constructor(task: Omit<StormTask, 'role' | 'harm'>) {
    this.#task = task;
  }

  get counts(): Readonly<Record<string, number>> {
    return this.#counts;
  }

  async start({ handlers }: { handlers: number }): Promise<void> {
    const roles: Role[] = ['dispatch', ...Array.from({ length: handlers }, (): Role => 'handle')];
    for (const role of roles) this.#slots.push({ role, process: this.#launch(role), busy: false });
    this.#watch = this.#keepUp();
    await Promise.all(this.#slots.map(({ process }) => process.waitForLine(/^(running|stopped)/)));
  }

  async suffer(mishap: ProcessMishap): Promise<void> {
    const slot = this.#slots.filter(({ role }) => role === mishap.role)[mishap.slot];
    if (slot === undefined || slot.busy) return;
    slot.busy = true;
    this.#count(mishap.kind);
    try {
      if (mishap.kind === 'kill') await this.#kill(slot.process);
      if (mishap.kind === 'restart') await this.#end(slot.process);
      if (mishap.kind === 'freeze') await this.#freeze(slot, mishap);
      else slot.process = this.#launch(slot.role);
    } finally {
      slot.busy = false;
    }
  }

  /** From here on no process harms itself. */
  calm(): void {
    this.#harmless = true;
  }

  /** Ends every process as a deployment would; answers what went wrong. */
  async stop(): Promise<string[]> {
    this.#watching.abort();
    await this.#watch;
    const ends = [...this.#all].map(async (process) => {
      const { code } = await this.#end(process);
      return code === 0 ? [] : [`a process ended with ${String(code)}: ${process.stderr}`];
    });
    return (await Promise.all(ends)).flat();
  }

  async abandon(): Promise<void> {
    this.#watching.abort();
    await Promise.all([...this.#all].map((process) => process.kill('SIGKILL')));
  }

  #launch(role: Role): TestProcess {
    const harm = this.#harmless ? null : selfHarmOf(this.#task.seed, role, this.#generation++);
    const process = startProcess(child, { env: { STORM_TASK: JSON.stringify({ ...this.#task, role, harm }) } });
    this.#all.add(process);
    void process.exited.then(() => this.#all.delete(process));
    return process;
  }

  async #freeze(slot: Slot, { forMs, thenKill, beside }: Extract<Mishap, { kind: 'freeze' }>): Promise<void> {
    const { process: frozen, role } = slot;
    this.#signal(frozen, 'SIGSTOP');
    if (beside) slot.process = this.#launch(role);
    await systemClock.sleep(forMs);
    if (thenKill) await this.#kill(frozen);
    else this.#signal(frozen, 'SIGCONT');
    if (thenKill && !beside) slot.process = this.#launch(role);
    if (!thenKill && beside) await this.#end(frozen);
  }

  #signal({ pid }: TestProcess, signal: 'SIGSTOP' | 'SIGCONT'): void {
    note(this.#task.file, { kind: signal === 'SIGSTOP' ? 'stopped' : 'continued', pid });
    try {
      process.kill(pid, signal);
    } catch {
      // It has killed itself a moment ago.
    }
  }

  #kill(process: TestProcess): Promise<unknown> {
    note(this.#task.file, { kind: 'gone', pid: process.pid });
    return process.kill('SIGKILL');
  }

  /** SIGTERM; one that stopped itself meanwhile is woken. */
  #end(process: TestProcess): Promise<{ code: number | null }> {
    if (process.stdout.includes('stopped')) this.#signal(process, 'SIGCONT');
    return process.kill('SIGTERM');
  }

  /** Looks after processes that killed or stopped themselves. */
  async #keepUp(): Promise<void> {
    const { signal } = this.#watching;
    while (!signal.aborted) {
      await systemClock.sleep(LOOK_MS, signal).catch(() => undefined);
      for (const process of this.#all) {
        if (this.#thawed.has(process.pid) || !process.stdout.includes('stopped')) continue;
        this.#thawed.add(process.pid);
        this.#count('stopped itself');
        void systemClock.sleep(LOCK_MS * 1.6).then(() => this.#signal(process, 'SIGCONT'));
      }
      for (const slot of this.#slots.filter(({ busy, process }) => !busy && !this.#all.has(process))) {
        this.#count('killed itself');
        slot.process = this.#launch(slot.role);
      }
    }
  }

  #count(what: string): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
  }
}
