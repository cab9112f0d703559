/**
 * What runs at night only, next to what the gate runs: further rows of a table of which one row shows the decision already. Files that
 * run only at night are named `*.nightly.test.ts`. A test that is run by its file is complete, as at night.
 */
export const isGate = process.env['TEST_PART'] === 'gate';

export function rowsOfGate<T>(count: number, rows: readonly T[]): T[] {
  return isGate ? rows.slice(0, count) : [...rows];
}
