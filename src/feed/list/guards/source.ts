/** Another address may be another workspace: all would be created, then deleted. So its contents must be the same. */
import { walkList } from '../../api/visited-cursors.js';
import { changesSince } from '../../detect/stored-record.js';
import { withEveryField, type Rules } from '../../detect/rules.js';
import { ChangefeedError } from '../../../kit/errors.js';
import { incompleteSweep } from '../errors.js';
import type { SweepDeps, SweepOptions } from '../options.js';
import { readDiffering, readSeen, type DifferingRecord } from '../records.js';
import type { StoredSweep } from '../../store/sweep-state.js';

/** The share of a page's records that must be stored with the same contents. */
const SAME_SHARE = 0.8;
/** A list with the newest records first may show only new ones on its first pages. */
const MOST_PAGES = 5;

/** Reads a few pages, writes nothing. @throws ChangefeedError CF_SOURCE_CHANGED when the baseline is of another */
export async function checkSource(
  deps: SweepDeps,
  options: SweepOptions,
  { checkpoint, state: { baselineAt, lastSweep } }: StoredSweep,
): Promise<void> {
  const { workspace, source, log } = deps;
  const { list } = options;
  if (baselineAt === null || lastSweep === null || isSameSource(lastSweep.source, source)) return;
  // The sweep began at this address, and its contents were compared then.
  if (checkpoint !== null && checkpoint.source === source) return;
  if (await showsTheSame(deps, options, lastSweep.counts.seen)) {
    log.info({ workspace, list, from: lastSweep.source, to: source }, 'source address changed, contents are the same');
    return;
  }
  throw new ChangefeedError('CF_SOURCE_CHANGED', {
    workspace,
    list,
    from: lastSweep.source,
    to: source,
    message:
      `Workspace "${workspace}", list "${list}": baseUrl is now ${source} and shows other records than ${lastSweep.source}, ` +
      'from which the baseline was taken. Nothing was written: correct baseUrl, take the new source with ' +
      `"changefeed resync <list>" (a quiet baseline), or start over with "changefeed forget ${workspace}" or another workspace name.`,
  });
}

async function showsTheSame({ api, store, workspace }: SweepDeps, options: SweepOptions, seenBefore: number) {
  const { list, rules, signal } = options;
  let number = 0;
  try {
    for await (const { records } of walkList(api, list, signal === undefined ? {} : { signal })) {
      const seen = await readSeen(store, records, rules);
      if (number === 0 && seen.length === 0) return seenBefore === 0;
      const differing = await readDiffering(store, list, seen);
      const same = seen.length - differing.filter((one) => !isAlike(one, rules)).length;
      if (seen.length > 0 && same >= SAME_SHARE * seen.length) return true;
      number += 1;
      if (number === MOST_PAGES) return false;
    }
  } catch (cause) {
    signal?.throwIfAborted();
    throw incompleteSweep({ workspace, list, page: number + 1, resumes: true, cause });
  }
  return false;
}

/** The same contents in another text: another order of keys, or a new signature in a link. */
function isAlike({ record, stored }: DifferingRecord, rules: Rules): boolean {
  if (stored === null || stored.gone !== undefined) return false;
  const compared = stored.content === undefined ? withEveryField(rules) : rules;
  return changesSince(stored, record, compared)?.length === 0;
}

/** A sweep without a source (`SweepDeps.source` is optional) matches any source. */
export function isSameSource(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}
