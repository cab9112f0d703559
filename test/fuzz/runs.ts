/**
 * How long the fuzz tests run: `FUZZ_RUNS` is the number of inputs of each test, `FUZZ_SEED` selects them (`random` for others each time). A
 * failure prints the smallest input that fails, and its seed.
 */
import { isGate } from '../support/night.js';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? (isGate ? 60 : 300));
const SEED = process.env['FUZZ_SEED'] ?? '1';

/** @param part of the runs, for inputs that take long @param timeout of one input, ms: whatever takes longer hangs */
export function runs({ part = 1, timeout = 30_000 } = {}): { numRuns: number; seed: number; timeout: number } {
  const seed = SEED === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(SEED);
  return { numRuns: Math.max(1, Math.round(RUNS * part)), seed, timeout };
}
