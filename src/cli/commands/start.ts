import { ROLES, type Role } from '../../app/changefeed.js';
import { openService, runService } from '../../app/process.js';
import type { GlobalOptions, Io } from '../io.js';

export interface StartOptions extends GlobalOptions {
  only?: Role[];
}

/** `changefeed start`: the service, until it is told to stop. */
export async function start({ only, config: path }: StartOptions, io: Io): Promise<number> {
  const service = await openService(io, { path });
  await runService(service, { roles: only ?? ROLES, signal: io.signal, onReload: (reload) => io.onHangUp(reload) });
  return 0;
}
