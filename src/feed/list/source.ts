/** Another address may be another workspace: all would be created, then deleted. So its contents must be the same. */
import { walkList } from '../api/visited-cursors.js';
import { isStored } from '../detect/record-state.js';
import { changesSince, isOfOtherMasks } from '../detect/stored-record.js';
import { withEveryField, type Rules } from '../detect/rules.js';
import { ChangefeedError } from '../../kit/errors.js';
import { incompleteSweep } from './incomplete.js';
import { isSameSource, type FeedList } from './list.js';
import { readDiffering, readSeen, type DifferingRecord } from './records.js';

/** The share of a page's records that must be stored with the same contents. */
const SAME_SHARE = 0.8;
/** A list with the newest records first may show only new ones on its first pages. */
const MOST_PAGES = 5;

/** Reads a few pages, writes nothing. @throws ChangefeedError CF_SOURCE_CHANGED when the baseline is of another */
export async function checkSource(list: FeedList): Promise<void> {
  const { baselineAt, lastSweep } = list.state;
  const { workspace, source, log } = list.deps;
  if (baselineAt === null || lastSweep === null || isSameSource(lastSweep.source, source)) return;
  // The sweep began at this address, and its contents were compared then.
  if (list.checkpoint.source === source) return;
  if (await showsTheSame(list, lastSweep.counts.seen)) {
    const facts = { workspace, list: list.name, from: lastSweep.source, to: source };
    log.info(facts, 'source address changed, contents are the same');
    return;
  }
  throw new ChangefeedError('CF_SOURCE_CHANGED', {
    workspace,
    list: list.name,
    from: lastSweep.source,
    to: source,
    message:
      `Workspace "${workspace}", list "${list.name}": the source is now ${source} and shows other records than ${lastSweep.source}, ` +
      'from which the baseline was taken. Nothing was written: correct baseUrl, take the new source with ' +
      `"changefeed resync <list>" (a quiet baseline), or start over with "changefeed forget ${workspace}" or another workspace name.`,
  });
}

async function showsTheSame(shown: FeedList, seenBefore: number) {
  const { name: list, rules, options, deps } = shown;
  const { signal } = options;
  const { api, workspace } = deps;
  let number = 0;
  try {
    for await (const page of walkList(api, list, { signal })) {
      const seen = await readSeen(shown, page);
      if (number === 0 && seen.length === 0) return seenBefore === 0;
      const differing = await readDiffering(shown, seen);
      const same = seen.length - differing.filter((one) => !isAlike(one, rules)).length;
      if (seen.length > 0 && same >= SAME_SHARE * seen.length) return true;
      number += 1;
      if (number === MOST_PAGES) return false;
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw incompleteSweep({ workspace, list, page: number + 1, resumes: true, cause });
  }
  return false;
}

/** The same contents in another text: another order of keys, or a new signature in a link. */
function isAlike({ record, stored }: DifferingRecord, rules: Rules): boolean {
  if (!isStored(stored) || isOfOtherMasks(stored, rules)) return false;
  return changesSince(stored, record, withEveryField(rules)).length === 0;
}
