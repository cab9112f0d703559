import { readFile } from 'node:fs/promises';
import { messageOf, usage } from '../../errors.js';
import { parseEvents, parseJournal } from '../../sandbox/verify/read.js';
import { scoreEvents, type Score } from '../../sandbox/verify/score.js';

import { asText, defineCommand, flag, requiredOption } from '../command.js';
import { fitted, table, type Colours } from '../text.js';

/** Exits with 1 when the score is not perfect. */
export const verify = defineCommand({
  input: {
    journal: requiredOption('file', 'the journal of the sandbox', asText),
    events: requiredOption('file', 'the events as NDJSON, as handlers received them', asText),
    json: flag('print it as JSON'),
  },
  async run({ journal, events, json = false }, io) {
    const [truth, received] = [await read(journal, '--journal'), await read(events, '--events')] as const;
    const score = scoreEvents({ journal: parseJournal(truth), events: parseEvents(received) });
    io.out(json ? JSON.stringify(score) : scoreText(score, io.colours.out, io.columns));
    const { recall, falseEvents, actors, orderViolations, sequenceGaps } = score;
    return recall === 1 && actors.wrong === 0 && falseEvents + orderViolations + sequenceGaps === 0 ? 0 : 1;
  },
});

async function read(path: string, option: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw usage(`${option}: ${reasonOf(cause, path)}`, cause);
  }
}

function reasonOf(cause: unknown, path: string): string {
  const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
  return isAbsent ? `${path}: there is no such file.` : `${messageOf(cause)}.`;
}

/** Nothing where no event says who. */
function actorsRow({ actors: { right, wrong, missing } }: Score): string[][] {
  if (right + wrong === 0) return [];
  const all = right + wrong + missing;
  const share = `${((right / all) * 100).toFixed(2)} %`;
  return [['actors', share, `right in ${right} of ${all} edits; ${wrong} wrong, ${missing} missing`]];
}

export function scoreText(score: Score, colours: Colours, columns = Infinity): string {
  const seconds = (ms: number | null): string => (ms === null ? '—' : `${(ms / 1_000).toFixed(1)} s`);
  const { p50, p99, max } = score.delay;
  const rows = [
    ['recall', `${(score.recall * 100).toFixed(2)} %`, `${score.found} of ${score.expected} changes`],
    ['false events', String(score.falseEvents), `of ${score.events}`],
    ['order violations', String(score.orderViolations), `${score.sequenceGaps} gaps in sequences`],
    ['duplicates', String(score.duplicates), 'the same id again: allowed, delivery is at least once'],
    ...actorsRow(score),
    ['delay', seconds(p50), `median; p99 ${seconds(p99)}, longest ${seconds(max)}`],
  ];
  const missed = score.missed.map(
    ({ list, id, verb, visibleAt }) => `missed: ${list} ${id} ${verb}, visible ${visibleAt}`,
  );
  const invented = score.inventions.map(({ type, subject, reason }) => `false: ${type} ${subject}: ${reason}`);
  const lines = [...missed, ...invented].map((line) => fitted(line, columns));
  return [table(['score', '', ''], rows, colours, columns), ...lines].join('\n');
}
