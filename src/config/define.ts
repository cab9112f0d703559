import type { ConfigInput } from './input.js';

/** Gives a configuration its types where it is written; changes nothing and checks nothing (loading does). */
export function defineConfig(input: ConfigInput): ConfigInput {
  return input;
}
