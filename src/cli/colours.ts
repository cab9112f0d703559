/** Colours per stream: the summary on a terminal may be coloured while the events beside it go to a file, and the other way round. */
import pc from 'picocolors';

export type Colours = ReturnType<typeof pc.createColors>;

export const noColours: Colours = pc.createColors(false);

export interface ColourWorld {
  stream: { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
}

/** On a terminal, unless NO_COLOR says no; elsewhere only where FORCE_COLOR says yes. */
export function coloursFor({ stream, env }: ColourWorld): Colours {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '', TERM: terminal } = env;
  if (no !== '') return noColours;
  if (force !== '') return pc.createColors(force !== '0' && force !== 'false');
  return pc.createColors(stream.isTTY === true && terminal !== 'dumb');
}
