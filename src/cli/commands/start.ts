import { ROLES, type Role } from '../../app.js';
import { ChangefeedError } from '../../errors.js';
import { openService, runService } from '../../service.js';
import type { GlobalOptions, Io } from '../io.js';

export interface StartOptions extends GlobalOptions {
  only?: string[];
}

/** `changefeed start`: the service, until it is told to stop. */
export async function start({ only, config: path }: StartOptions, io: Io): Promise<number> {
  const roles = (only ?? [...ROLES]).map(parseRole);
  const service = await openService(io, { path });
  await runService(service, { roles, signal: io.signal });
  return 0;
}

function parseRole(text: string): Role {
  const role = ROLES.find((name) => name === text);
  if (role !== undefined) return role;
  throw new ChangefeedError('CF_USAGE', {
    message: `--only: "${text}" is no role. The roles are ${ROLES.join(', ')}.`,
  });
}
