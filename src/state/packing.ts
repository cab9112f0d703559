/** How a record is laid down in Redis. A version byte stands first, so that a later release can read what this one wrote. */
import { ChangefeedError } from '../errors.js';
import type { RecordState } from '../sweep/store.js';

const VERSION = '1';

/** Version 1: `1<digest> <sequence> <record's JSON>`. The digest stands first too, in a hash of its own, to be read alone. */
export function packRecord({ digest, sequence, image }: RecordState): string {
  return `${VERSION}${digest} ${sequence} ${image}`;
}

export function unpackRecord(packed: string): RecordState {
  const match = /^1(\S+) (\d+) (.*)$/su.exec(packed);
  if (match === null) {
    throw new ChangefeedError('CF_STATE_UNREADABLE', {
      message: `A stored record has the form "${packed.slice(0, 1)}", which this release does not know: it was written by a newer one. Run that release, or name another redis.prefix.`,
    });
  }
  return { digest: match[1] ?? '', sequence: Number(match[2]), image: match[3] ?? '' };
}
