/** What the first pages of each list say about the token, the address, the form and the cursor. Pure. */
import { isAsLongAsPages } from '../../crm/full-page.js';
import { EXTRA_CA } from '../../kit/errors.js';
import { error, ok, skipped, warning, type Finding, type Text } from './finding.js';
import { expectedFields, keyOf, type FailedPage, type ReadList } from './read-list.js';

/** @param byFunction `fetchPage` asks for the lists, with a token of its own */
export function judgeApi(workspace: string, lists: readonly ReadList[], t: Text, byFunction = false): Finding[] {
  const about = (what: string): string => `${workspace}: ${what}`;
  return [
    token(about(t('doctor.token')), { workspace, lists, t, byFunction }),
    ...lists.flatMap((read) => listFindings(about(read.list.name), read, { lists, t })),
  ];
}

interface Judged {
  lists: readonly ReadList[];
  t: Text;
}

function token(
  check: string,
  { workspace, lists, t, byFunction }: Judged & { workspace: string; byFunction: boolean },
): Finding {
  const refused = lists.filter(({ pages, failed }) => pages.length === 0 && failed?.isRefused === true);
  const what = refused[0]?.failed?.what;
  if (what === undefined) {
    if (byFunction) return skipped(check, t('doctor.token.function'));
    const isRead = lists.some(({ pages }) => pages.length > 0);
    return isRead ? ok(check, t('doctor.token.accepted')) : skipped(check, t('doctor.token.unknown'));
  }
  const isAll = refused.length === lists.length;
  const of = isAll ? t('doctor.token.everyList') : refused.map(({ list }) => list.name).join(', ');
  return error(check, t('doctor.token.refused', { lists: of, what }), t('doctor.token.todo', { workspace }));
}

function listFindings(check: string, read: ReadList, { lists: all, t }: Judged): Finding[] {
  const { list, pages, failed } = read;
  const [first, second] = pages;
  if (first === undefined) {
    // The token has a finding of its own.
    return failed === null || failed.isRefused ? [] : [error(check, failed.what, unreadTodo(failed, list.path, t))];
  }
  const rows = pages.map(({ records }) => records.length);
  const shown = t('doctor.list.rows', { key: keyOf(read), rows: rows.join(t('doctor.and')) });
  const cursorTodo = t('doctor.list.cursorTodo');
  if (failed !== null)
    return [error(check, t('doctor.list.next', { shown, what: failed.what }), todoOf(failed, cursorTodo, t))];
  if (second !== undefined && idsOf(second) === idsOf(first))
    return [error(check, t('doctor.list.circle', { shown }), cursorTodo)];
  const { found, missing } = expectedFields(read);
  const isComplete = first.records.length === 0 || missing.length === 0;
  const seen = `${shown}; ${cursorText(second, t)}${isComplete ? '' : t('doctor.list.missing', { fields: some(missing) })}`;
  if (second === undefined && first.saysEnd !== true && isAsLongAsPages(first.records.length, wholePages(all)))
    return [warning(check, seen, t('doctor.list.cutTodo'))];
  if (isComplete || missing.length <= found) return [ok(check, seen)];
  return [warning(check, seen, t('doctor.list.fieldsTodo'))];
}

function cursorText(second: ReadList['pages'][number] | undefined, t: Text): string {
  if (second === undefined) return t('doctor.list.ends');
  return t(second.records.length === 0 ? 'doctor.list.empty' : 'doctor.list.goesOn');
}

/** Rows of the pages that another one follows. */
function wholePages(lists: readonly ReadList[]): number[] {
  return lists.flatMap(({ pages }) => pages.flatMap((page) => (page.nextCursor === null ? [] : page.records.length)));
}

function idsOf({ records }: ReadList['pages'][number]): string {
  return JSON.stringify(records.map((record) => record['id'] ?? record));
}

function todoOf({ status, what }: FailedPage, otherwise: string, t: Text): string {
  if (what.includes(EXTRA_CA)) return t('doctor.list.caTodo');
  if (status === null) return t('doctor.list.networkTodo');
  return status === 429 ? t('doctor.list.quotaTodo') : otherwise;
}

function unreadTodo(failed: FailedPage, path: string, t: Text): string {
  const isAbsent = failed.status === 404;
  return todoOf(failed, isAbsent ? t('doctor.list.absentTodo', { path }) : t('doctor.list.askTodo'), t);
}

const MOST_NAMED = 5;

function some(names: readonly string[]): string {
  return `${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? `, … (${names.length})` : ''}`;
}
