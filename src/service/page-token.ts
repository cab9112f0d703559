/** The token of the page: every user of this machine could read all records if there were none. It stays the same: sessions survive a restart. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../kit/errors.js';
import { prepareStateDir } from '../redis/private/state-dir.js';
import type { Log } from '../kit/log.js';
import { makeOwnFile, readOwnFile } from '../kit/own-file.js';

export interface PageToken {
  token: string;
  /** Null where the state folder cannot be written: then it is another one after each start. */
  file: string | null;
}

export function pageToken(stateDir: string, log: Log): PageToken {
  const fresh = randomBytes(24).toString('base64url');
  const file = join(stateDir, 'http-token');
  try {
    prepareStateDir(stateDir);
    const known = readOwnFile(file);
    if (known && /^[\w-]{32}$/.test(known)) return { token: known, file };
    rmSync(file, { force: true });
    return { token: makeOwnFile(file, fresh), file };
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'the token of the status page is not kept; each start makes another one');
    return { token: fresh, file: null };
  }
}
