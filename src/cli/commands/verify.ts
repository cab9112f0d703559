import { readFile } from 'node:fs/promises';
import { ChangefeedError, messageOf } from '../../errors.js';
import { parseEvents, parseJournal } from '../../sandbox/verify/read.js';
import { scoreEvents, type Score } from '../../sandbox/verify/score.js';
import type { Colours } from '../colours.js';
import type { Io } from '../io.js';
import { table } from '../table.js';

export interface VerifyOptions {
  journal: string;
  events: string;
  json?: boolean;
}

/** `changefeed verify`: scores a stream of events against a sandbox's journal. Exit code 1 if the score is not perfect. */
export async function verify({ journal, events, json = false }: VerifyOptions, io: Io): Promise<number> {
  const [truth, stream] = await Promise.all([read(journal, '--journal'), read(events, '--events')]);
  const score = scoreEvents({ journal: parseJournal(truth), events: parseEvents(stream) });
  io.out(json ? JSON.stringify(score) : scoreText(score, io.colours.out));
  return isPerfect(score) ? 0 : 1;
}

export function isPerfect({ recall, falseEvents, orderViolations, sequenceGaps }: Score): boolean {
  return recall === 1 && falseEvents + orderViolations + sequenceGaps === 0;
}

async function read(path: string, option: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ChangefeedError('CF_USAGE', { cause, message: `${option}: ${messageOf(cause)}.` });
  }
}

function scoreText(score: Score, colours: Colours): string {
  const seconds = (ms: number | null): string => (ms === null ? '—' : `${(ms / 1_000).toFixed(1)} s`);
  const { p50, p99, max } = score.delay;
  const rows = [
    ['recall', `${(score.recall * 100).toFixed(2)} %`, `${score.found} of ${score.expected} changes`],
    ['false events', String(score.falseEvents), `of ${score.events}`],
    ['order violations', String(score.orderViolations), `${score.sequenceGaps} gaps in sequences`],
    ['duplicates', String(score.duplicates), 'the same id again: allowed, delivery is at least once'],
    ['delay', seconds(p50), `median; p99 ${seconds(p99)}, longest ${seconds(max)}`],
  ];
  const missed = score.missed.map(
    ({ list, id, verb, visibleAt }) => `missed: ${list} ${id} ${verb}, visible ${visibleAt}`,
  );
  const invented = score.inventions.map(({ type, subject, reason }) => `false: ${type} ${subject}: ${reason}`);
  return [table(['score', '', ''], rows, colours), ...missed, ...invented].join('\n');
}
