/**
 * How a record is laid down in Redis. A version byte stands first, so that a later release can read what this one wrote.
 *
 * Version 2 is `2` and, deflated with a dictionary of what records have in common, a line of JSON about the record and the
 * image as it came. MessagePack with shared structures packs tighter still, but a record could then only be read beside the
 * structures of its time: a state must be readable by itself (the numbers stand in docs/detection.md).
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ChangefeedError } from '../errors.js';
import type { SweptRecordState } from '../sweep/store.js';
import { DICTIONARY } from './packing-dictionary.js';

type Rest = Omit<SweptRecordState, 'digest' | 'sequence' | 'image'>;

export function packRecord({ digest, sequence, image, ...rest }: SweptRecordState): Buffer {
  const head = JSON.stringify([digest, sequence, image !== null, rest]);
  const packed = deflateRawSync(image === null ? head : `${head}\n${image}`, { level: 6, dictionary: DICTIONARY });
  return Buffer.concat([Buffer.from('2'), packed]);
}

export function unpackRecord(packed: Buffer): SweptRecordState {
  const version = packed.toString('latin1', 0, 1);
  if (version === '2') return unpackVersion2(packed.subarray(1));
  if (version === '1') return unpackVersion1(packed.toString('utf8'));
  throw unreadable(
    `A stored record has the form "${version}", which this release does not know: it was written by a newer one. Run that release, or name another redis.prefix.`,
  );
}

/** The JSON of a record that waits: never more than a sweep or two, but perhaps of every row there is. */
export function packWaiting(json: string): Buffer {
  return packRecord({ digest: '', sequence: 0, image: json });
}

export function unpackWaiting(packed: Buffer): string | null {
  return unpackRecord(packed).image;
}

function unpackVersion2(packed: Buffer): SweptRecordState {
  const text = inflated(packed);
  const cut = text.indexOf('\n');
  const [digest, sequence, hasImage, rest] = JSON.parse(cut === -1 ? text : text.slice(0, cut)) as [
    string,
    number,
    boolean,
    Rest,
  ];
  return { digest, sequence, image: hasImage ? text.slice(cut + 1) : null, ...rest };
}

function inflated(packed: Buffer): string {
  try {
    return inflateRawSync(packed, { dictionary: DICTIONARY }).toString('utf8');
  } catch (cause) {
    throw unreadable('A stored record is damaged. Sweep the list with another redis.prefix, or restore Redis.', cause);
  }
}

/** Version 1: `1<digest> <sequence> <record's JSON>`. */
function unpackVersion1(packed: string): SweptRecordState {
  const match = /^1(\S+) (\d+) (.*)$/su.exec(packed);
  if (match === null) throw unreadable('A stored record of form "1" is damaged.');
  return { digest: match[1] ?? '', sequence: Number(match[2]), image: match[3] ?? '', counted: false };
}

function unreadable(message: string, cause?: unknown): ChangefeedError {
  return new ChangefeedError('CF_STATE_UNREADABLE', { message, cause });
}
