/** Loaded with `--import`: moves the `Date` of a process by the ms in the file of CLOCK_STEP_FILE, which may change while it runs. */
import { readFileSync } from 'node:fs';

const Real = Date;
let [stepMs, readAtMs] = [0, -Infinity];
const step = () => {
  if (performance.now() - readAtMs > 50) {
    readAtMs = performance.now();
    stepMs = Number(readFileSync(process.env.CLOCK_STEP_FILE, 'utf8')) || 0;
  }
  return stepMs;
};
globalThis.Date = class Date extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + step());
    else super(...given);
  }
  static now() {
    return Real.now() + step();
  }
};
