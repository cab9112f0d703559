/** The read API of a sandbox in this process. It uses the layers and page parsing of the real client, but no socket. */
import { gunzipSync } from 'node:zlib';
import { noAnswer, type Asked } from '../../src/feed/api/failure.js';
import { readPage } from '../../src/feed/api/page.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { parsedRow } from '../../src/feed/api/rows.js';
import { pageDigest, type FetchPage } from '../../src/feed/api/request.js';
import { wholePage, type Page, type ReadApi } from '../../src/feed/api/read-api.js';
import { withRetry } from '../../src/feed/api/retry.js';
import type { BuiltInList, ListName } from '../../src/crm/lists/lists.js';
import type { Clock } from '../../src/kit/clock.js';
import { silentLog } from '../../src/kit/log.js';
import type { Answer } from '../../src/ops/server/read-api/answer.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import type { FaultSchedule } from './fault-schedule.js';

export interface InProcessApi {
  sandbox: Sandbox;
  clock: Clock;
  faults: FaultSchedule;
  attempts: number;
  latencyMs: number;
  /** The records of a page as this client receives them: some may be hidden or have no ids. */
  visible: (list: BuiltInList, records: readonly UncheckedRecord[]) => readonly UncheckedRecord[];
}

/** The workspace of a model run has the built-in lists only. */
const builtIn = (list: ListName) => list as BuiltInList;

export function inProcessApi({ sandbox, clock, faults, attempts, latencyMs, visible }: InProcessApi): ReadApi {
  const never = new AbortController().signal;
  const once: FetchPage = async ({ list: asIs, cursor, page }) => {
    const list = builtIn(asIs);
    if (latencyMs > 0) await clock.sleep(latencyMs);
    const asked: Asked = { workspace: 'model', host: 'sandbox', list, page, now: clock.now(), redact: (text) => text };
    const answer = await faults.call(
      () =>
        sandbox.respond({
          method: 'GET',
          list,
          id: null,
          parameters: cursor === null ? {} : { cursor },
          authorization: `Bearer ${sandbox.token}`,
          contentType: 'application/json',
          signal: never,
        }),
      () => noAnswer(asked, { status: null, what: 'the connection broke', cause: undefined }),
    );
    return received(answer, asked);
  };
  const retry = { attempts, backoff: { delayMs: 500, maxDelayMs: 30_000 }, clock, log: silentLog, random: () => 0.5 };
  const fetchPage = withRetry(once, retry);
  const fetchIfChanged: ReadApi['fetchIfChanged'] = async (
    list,
    { cursor, page, kind = 'walk', signal, knownDigest },
  ) => {
    const got = wholePage(await fetchPage({ list, cursor, kind, page, attempt: 1, signal }));
    const records = visible(builtIn(list), got.records);
    const digest = await pageDigest(Buffer.from(JSON.stringify([records, got.nextCursor])));
    return digest === knownDigest
      ? { unchanged: true, list, bytes: got.bytes }
      : { ...got, records, rows: records.map(parsedRow), digest };
  };
  return {
    fetchPage: async (list, options) => wholePage(await fetchIfChanged(list, { ...options, knownDigest: undefined })),
    fetchIfChanged,
    close: () => Promise.resolve(),
  };
}

function received({ body, delivered, delivery, headers, status }: Answer, asked: Asked): Page {
  if (delivery.how !== 'whole')
    throw noAnswer(asked, { status, what: 'the answer stopped before its end', cause: undefined });
  delivered?.();
  const plain = Buffer.from(headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
  return readPage({ status, headers, body: plain, bytes: body.length, askedAt: asked.now, ms: 0 }, asked);
}
