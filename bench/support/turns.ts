/** Contestants in turns within one run, so that a busy machine hinders all alike. */

export interface Contestant {
  readonly name: string;
  /** What must happen before it may be timed, for example to empty its state. @defaultValue nothing */
  readonly prepare?: () => Promise<void>;
  /** Returns how many records it has read. */
  readonly sweep: () => Promise<number>;
}

export interface Timed {
  /** Wall clock. */
  readonly ms: number;
  /** Processor time of this process. */
  readonly cpuMs: number;
}

export interface Rounds {
  readonly turns: number;
  /** Before each turn. @defaultValue nothing */
  readonly before?: (turn: number) => Promise<void>;
  /**
   * In its turn, each contestant sweeps untimed for so long, at least once: as a service that sweeps without end. After the others and a
   * collection of garbage, the heap must grow again, and code must be compiled again. Ms. @defaultValue 0: it is timed at once
   */
  readonly settleMs?: number;
}

interface Turns extends Rounds {
  /** The records that every contestant must see. */
  readonly records: number;
}

/** The first contestant of a turn is another one each time. @throws Error when a contestant did not see all records */
export async function inTurns(
  contestants: readonly Contestant[],
  { turns, records, before, settleMs = 0 }: Turns,
): Promise<Map<string, Timed[]>> {
  const times = new Map(contestants.map(({ name }) => [name, [] as Timed[]]));
  for (let turn = 0; turn < turns; turn += 1) {
    await before?.(turn);
    for (const contestant of rotated(contestants, turn)) {
      times.get(contestant.name)?.push(await timed(contestant, { records, settleMs }));
    }
  }
  return times;
}

async function timed(
  { name, prepare, sweep }: Contestant,
  { records, settleMs }: { records: number; settleMs: number },
): Promise<Timed> {
  await prepare?.();
  collectGarbage();
  for (const settled = performance.now() + settleMs; performance.now() < settled;) await sweep();
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  const seen = await sweep();
  const { user, system } = process.cpuUsage(cpu);
  const ms = performance.now() - started;
  if (seen !== records) throw new Error(`${name} saw ${seen} of ${records} records`);
  return { ms, cpuMs: (user + system) / 1_000 };
}

/** What one contestant leaves behind must not be collected in the time of the next. Needs `--expose-gc`. */
function collectGarbage(): void {
  (globalThis as { gc?: () => void }).gc?.();
}

function rotated<T>(values: readonly T[], by: number): T[] {
  const at = by % values.length;
  return [...values.slice(at), ...values.slice(0, at)];
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));
