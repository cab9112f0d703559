/** The processes of a storm, each in a slot: they are killed, frozen, restarted and replaced. */
import { startProcess, type TestProcess } from '../support/spawned.js';
import { systemClock } from '../../src/kit/clock.js';
import { withinLimit } from './limit.js';
import { LOCK_MS, selfFaultOf, type Fault, type Role } from './plan.js';
import { appendEntry } from './journal.js';
import type { StormTask } from './storm-child.js';

const child = new URL('./storm-child.ts', import.meta.url);
const CHECK_INTERVAL_MS = 40;
/** A process that is asked to stop ends within some seconds. */
const END_LIMIT_MS = 30_000;
const LOG_LINES = 15;

interface Slot {
  role: Role;
  process: TestProcess;
  busy: boolean;
}

type ProcessFault = Extract<Fault, { role: Role }>;

export class StormProcesses {
  readonly #task: Omit<StormTask, 'role' | 'selfFault'>;
  readonly #slots: Slot[] = [];
  readonly #all = new Map<TestProcess, Role>();
  readonly #continued = new Set<number>();
  readonly #watching = new AbortController();
  readonly #counts: Record<string, number> = {};
  #watch: Promise<void> = Promise.resolve();
  #generation = 0;
  #calm = false;
  #isStopping = false;

  constructor(task: Omit<StormTask, 'role' | 'selfFault'>) {
    this.#task = task;
  }

  get counts(): Readonly<Record<string, number>> {
    return this.#counts;
  }

  async start({ handlers }: { handlers: number }): Promise<void> {
    const roles: Role[] = ['dispatch', ...Array.from({ length: handlers }, (): Role => 'handle')];
    for (const role of roles) this.#slots.push({ role, process: this.#launch(role), busy: false });
    this.#watch = this.#replaceEnded();
    await Promise.all(this.#slots.map(({ process }) => process.waitForLine(/^(running|stopped)/)));
  }

  async apply(fault: ProcessFault): Promise<void> {
    const slot = this.#slots.filter(({ role }) => role === fault.role)[fault.slot];
    if (slot === undefined || slot.busy) return;
    slot.busy = true;
    this.#count(fault.kind);
    try {
      if (fault.kind === 'kill') await this.#kill(slot.process);
      if (fault.kind === 'restart') await this.#end(slot.process);
      if (fault.kind === 'freeze') await this.#freeze(slot, fault);
      else slot.process = this.#launch(slot.role);
    } finally {
      slot.busy = false;
    }
  }

  /** Journals that no process could renew its locks since then. */
  cutOff(sinceMs: number, also: ReadonlySet<number>): void {
    for (const pid of new Set([...also, ...this.pids()]))
      appendEntry(this.#task.file, { kind: 'starved', pid, sinceMs });
  }

  pids(): ReadonlySet<number> {
    return new Set([...this.#all.keys()].map(({ pid }) => pid));
  }

  calm(): void {
    this.#calm = true;
  }

  async stop(): Promise<string[]> {
    this.#isStopping = true;
    const ends = [...this.#all.keys()].map(async (process) => {
      const { code } = await this.#end(process);
      return code === 0 ? [] : [`a process ended with ${String(code)}: ${process.stderr}`];
    });
    // Until then, one that stops itself while it ends is continued.
    const unclean = (await Promise.all(ends)).flat();
    this.#watching.abort();
    await this.#watch;
    return unclean;
  }

  state(): string {
    return [...this.#all.keys()].map((process) => this.#stateOf(process)).join('\n');
  }

  async abandon(): Promise<void> {
    this.#watching.abort();
    await Promise.all([...this.#all.keys()].map((process) => process.kill('SIGKILL')));
  }

  #launch(role: Role): TestProcess {
    const selfFault = this.#calm ? null : selfFaultOf(this.#task.seed, role, this.#generation++);
    const process = startProcess(child, { env: { STORM_TASK: JSON.stringify({ ...this.#task, role, selfFault }) } });
    this.#all.set(process, role);
    void process.exited.then(() => this.#all.delete(process));
    return process;
  }

  async #freeze(slot: Slot, { forMs, thenKill, replaced }: Extract<Fault, { kind: 'freeze' }>): Promise<void> {
    const { process: frozen, role } = slot;
    this.#signal(frozen, 'SIGSTOP');
    if (replaced) slot.process = this.#launch(role);
    await systemClock.sleep(forMs);
    if (thenKill) await this.#kill(frozen);
    else this.#signal(frozen, 'SIGCONT');
    if (thenKill && !replaced) slot.process = this.#launch(role);
    if (!thenKill && replaced) await this.#end(frozen);
  }

  #signal({ pid }: TestProcess, signal: 'SIGSTOP' | 'SIGCONT'): void {
    appendEntry(this.#task.file, { kind: signal === 'SIGSTOP' ? 'stopped' : 'continued', pid });
    try {
      process.kill(pid, signal);
    } catch {
      // The process has just killed itself.
    }
  }

  #kill(process: TestProcess): Promise<unknown> {
    appendEntry(this.#task.file, { kind: 'killed', pid: process.pid });
    return process.kill('SIGKILL');
  }

  /** SIGTERM. A process that stopped itself meanwhile is continued first. */
  #end(process: TestProcess): Promise<{ code: number | null }> {
    if (process.stdout.includes('stopped')) this.#signal(process, 'SIGCONT');
    const state = (): string => this.#stateOf(process);
    return withinLimit('a process to end after SIGTERM', process.kill('SIGTERM'), { ms: END_LIMIT_MS, state });
  }

  #stateOf(process: TestProcess): string {
    const { pid, stdout, stderr } = process;
    const lines = `${stdout}${stderr}`.trimEnd().split('\n').slice(-LOG_LINES);
    return [`process ${pid} (${this.#all.get(process) ?? 'ended'}):`, ...lines].join('\n  ');
  }

  async #replaceEnded(): Promise<void> {
    const { signal } = this.#watching;
    while (!signal.aborted) {
      await systemClock.sleep(CHECK_INTERVAL_MS, signal).catch(() => undefined);
      for (const process of this.#all.keys()) {
        if (this.#continued.has(process.pid) || !process.stdout.includes('stopped')) continue;
        this.#continued.add(process.pid);
        this.#count('stopped itself');
        void systemClock.sleep(LOCK_MS * 1.6).then(() => this.#signal(process, 'SIGCONT'));
      }
      if (this.#isStopping) continue;
      for (const slot of this.#slots.filter(({ busy, process }) => !busy && !this.#all.has(process))) {
        this.#count('killed itself');
        slot.process = this.#launch(slot.role);
      }
    }
  }

  #count(kind: string): void {
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
  }
}
