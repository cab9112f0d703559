/** What the first pages of each list say about token, address, form, cursor, clock and quota. Pure. */
import { clockApart } from '../../feed/api/request.js';
import { isAsLongAsPages } from '../../crm/full-page.js';
import { EXTRA_CA } from '../../kit/errors.js';
import { clockFinding, error, ok, skipped, warning, type Finding, type Text } from './finding.js';
import { expectedFields, keyOf, type FailedPage, type ReadList } from './read-list.js';

export function judgeApi(workspace: string, lists: readonly ReadList[], budget: Budget, t: Text): Finding[] {
  const about = (what: string): string => `${workspace}: ${what}`;
  const apartMs = clockApartMs(lists);
  return [
    token(about(t('doctor.token')), { workspace, lists, t }),
    ...lists.flatMap((read) => listFindings(about(read.list.name), read, { lists, t })),
    ...(apartMs === null ? [] : [clockFinding(about(t('doctor.clock')), apartMs, 'doctor.whose.api', t)]),
    quota(about(t('doctor.quota')), { lists, budget, t }),
  ];
}

interface Budget {
  requests: number;
  perSeconds: number;
}

interface Judged {
  lists: readonly ReadList[];
  t: Text;
}

function token(check: string, { workspace, lists, t }: Judged & { workspace: string }): Finding {
  const refused = lists.filter(({ pages, failed }) => pages.length === 0 && isRefused(failed));
  const what = refused[0]?.failed?.what;
  if (what === undefined) {
    const isRead = lists.some(({ pages }) => pages.length > 0);
    return isRead ? ok(check, t('doctor.token.accepted')) : skipped(check, t('doctor.token.unknown'));
  }
  const isAll = refused.length === lists.length;
  const of = isAll ? t('doctor.token.everyList') : refused.map(({ list }) => list.name).join(', ');
  return error(check, t('doctor.token.refused', { lists: of, what }), t('doctor.token.todo', { workspace }));
}

function isRefused(failed: FailedPage | null): boolean {
  return failed?.status === 401 || failed?.status === 403;
}

function listFindings(check: string, read: ReadList, { lists: all, t }: Judged): Finding[] {
  const { list, pages, failed } = read;
  const [first, second] = pages;
  if (first === undefined) {
    // The token has a finding of its own.
    return failed === null || isRefused(failed) ? [] : [error(check, failed.what, unreadTodo(failed, list.path, t))];
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

const ABOUT_A_LIMIT = /rate-?limit|quota|retry-after|throttl/;
/** A longer or stranger value may be an id. */
const PLAIN = /^[\w ,;:=./-]{1,60}$/;

function quota(check: string, { lists, budget, t }: Judged & { budget: Budget }): Finding {
  const answers = lists.flatMap((read) => read.answers);
  const headers = new Map(answers.flatMap((answer) => Object.entries(answer.headers)));
  const limits = [...headers].filter(([name]) => ABOUT_A_LIMIT.test(name));
  const hidden = t('doctor.quota.hidden');
  const named = limits.map(([name, value]) => `${name}: ${PLAIN.test(String(value)) ? String(value) : hidden}`);
  const facts = {
    limits: named.length === 0 ? t('doctor.quota.unnamed') : named.join('; '),
    requests: budget.requests,
    seconds: budget.perSeconds,
  };
  if (answers.every(({ status }) => status !== 429)) return ok(check, t('doctor.quota.none', facts));
  return warning(check, t('doctor.quota.refused', facts), t('doctor.quota.todo'));
}

/** How far its last dated answer is from the clock of this machine. */
function clockApartMs(lists: readonly ReadList[]): number | null {
  return (
    lists
      .flatMap(({ answers }) => answers)
      .flatMap((answer) => clockApart(answer) ?? [])
      .at(-1) ?? null
  );
}

export function judgeOffers(workspace: string, offered: readonly ReadList[], t: Text): Finding[] {
  if (offered.length === 0) return [];
  const said = offered.map(({ list: { name, object, history }, pages, failed }) => {
    if (pages.length === 0) return t('doctor.offers.no', { name, why: failed?.status ?? t('doctor.offers.noAnswer') });
    const of = history?.of.map((one) => `crm.${one.object}`).join(t('doctor.and'));
    const brings = of === undefined ? t('doctor.offers.events', { object }) : t('doctor.offers.edits', { of });
    return t('doctor.offers.yes', { name, brings });
  });
  return [ok(`${workspace}: ${t('doctor.offers')}`, said.join('; '))];
}

const MOST_NAMED = 5;

function some(names: readonly string[]): string {
  return `${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? `, … (${names.length})` : ''}`;
}
