/**
 * The layer that asks for a known page with the server's validators, so that an unchanged page is a 304 without a body.
 *
 * A 304 is an unchanged page only when the validator belongs to the page that the caller knows: the digest that was read together
 * with the validator is the digest that the caller names. Otherwise the request has no condition.
 *
 * A server may be wrong about its own pages, for example with an ETag made of ids and times only. So conditions are used for a list
 * - after 20 pages have changed and each of them had another validator. A page that changed under the same validator is a lie, and
 *   the list is asked without conditions for an hour. Each further lie doubles the pause;
 * - and in seven sweeps of eight. The eighth asks for every page as a whole, which shows a lie and finds what it has hidden.
 *
 * What it knows is kept in the process. After a restart it is learned again.
 */
import type { ListName } from '../crm/lists/lists.js';
import type { Clock } from '../runtime/clock.js';
import type { Layer, PageRequest } from './layers.js';
import { isUnchanged, type FetchedPage } from './read-api.js';
import { isSameVersion, type Validators } from './validators.js';

const CHANGES_BEFORE_USE = 20;
const SWEEPS_PER_AUDIT = 8;
const FIRST_PAUSE_MS = 3_600_000;
const LONGEST_PAUSE_MS = 7 * 86_400_000;
/** About 200 bytes each. The pages of larger lists beyond that are asked for as a whole. */
const MOST_PAGES = 20_000;

interface Version {
  digest: string;
  validators: Validators;
}

/** What is known about the validators of one list. */
interface Evidence {
  /** Cursor ("" for the first page) → the page as it was read last. */
  readonly versions: Map<string, Version>;
  changes: number;
  sweeps: number;
  lies: number;
  pausedUntil: number;
}

export function withConditions(clock: Clock): Layer {
  const lists = new Map<ListName, Evidence>();
  const evidenceOf = (list: ListName): Evidence => {
    const found = lists.get(list) ?? { versions: new Map(), changes: 0, sweeps: 0, lies: 0, pausedUntil: 0 };
    lists.set(list, found);
    return found;
  };
  return (next) => async (request) => {
    const evidence = evidenceOf(request.list);
    if (request.kind === 'walk' && request.cursor === null && request.attempt === 1) evidence.sweeps += 1;
    const known = evidence.versions.get(request.cursor ?? '');
    const condition =
      known !== undefined && mayAsk(evidence, known, request, clock.now()) ? known.validators : undefined;
    const page = await next({ ...request, condition });
    learn(evidence, { cursor: request.cursor ?? '', page, knownDigest: request.knownDigest }, clock.now());
    return page;
  };
}

function mayAsk(
  { changes, sweeps, pausedUntil }: Evidence,
  { digest }: Version,
  { knownDigest }: Pick<PageRequest, 'knownDigest'>,
  nowMs: number,
): boolean {
  const isAudit = sweeps % SWEEPS_PER_AUDIT === 0;
  return digest === knownDigest && changes >= CHANGES_BEFORE_USE && !isAudit && nowMs >= pausedUntil;
}

function learn(
  evidence: Evidence,
  { cursor, page, knownDigest }: { cursor: string; page: FetchedPage; knownDigest: string | undefined },
  nowMs: number,
): void {
  const { validators = null } = page;
  const digest = isUnchanged(page) ? knownDigest : page.digest;
  const before = evidence.versions.get(cursor);
  if (validators === null || digest === undefined) {
    // A 304 may come without validators. Then those that it was asked with stay.
    if (!isUnchanged(page)) evidence.versions.delete(cursor);
    return;
  }
  if (before !== undefined && before.digest !== digest) {
    if (isSameVersion(before.validators, validators)) distrust(evidence, nowMs);
    else evidence.changes += 1;
  }
  if (before !== undefined || evidence.versions.size < MOST_PAGES)
    evidence.versions.set(cursor, { digest, validators });
}

function distrust(evidence: Evidence, nowMs: number): void {
  evidence.pausedUntil = nowMs + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** evidence.lies);
  evidence.lies += 1;
  evidence.changes = 0;
}
