import { openService } from '../../app/process.js';
import type { GlobalOptions, Io } from '../io.js';

export interface SwitchOptions extends GlobalOptions {
  args: readonly string[];
  reason?: string;
  json?: boolean;
}

/** `changefeed enable`: a subscription goes on where it stood, in whichever process handles it. */
export async function enable(
  { args: [name = ''], json = false, config: path }: SwitchOptions,
  io: Io,
): Promise<number> {
  const { feed } = await openService(io, { path, quiet: true });
  try {
    const was = await feed.enable(name);
    if (json) io.out(JSON.stringify({ subscription: name, was }));
    else if (was === null) io.out(`"${name}" was not disabled`);
    else {
      io.out(`"${name}" is enabled again; it was disabled at ${was.at}: ${was.reason}`);
      if (was.missing) io.out(io.colours.out.red('It misses events that log.retention dropped meanwhile.'));
    }
  } finally {
    await feed.stop();
  }
  return 0;
}

/** `changefeed disable`: nothing more is delivered to a subscription; its events wait. */
export async function disable(options: SwitchOptions, io: Io): Promise<number> {
  const {
    args: [name = ''],
    reason,
    json = false,
    config: path,
  } = options;
  const { feed } = await openService(io, { path, quiet: true });
  try {
    const disabled = await feed.disable(name, reason);
    if (json) io.out(JSON.stringify({ subscription: name, disabled }));
    else
      io.out(disabled ? `"${name}" is disabled: its events wait until it is enabled` : `"${name}" was disabled before`);
  } finally {
    await feed.stop();
  }
  return 0;
}
