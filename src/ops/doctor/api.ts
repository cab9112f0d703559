/** What the first pages of each list say about token, address, form, cursor, clock and quota. Pure. */
import { clockApart } from '../../feed/api/request.js';
import { isAsLongAsPages } from '../../crm/full-page.js';
import { EXTRA_CA } from '../../kit/errors.js';
import { clockFinding, error, ok, skipped, warning, type Finding } from './finding.js';
import { expectedFields, keyOf, type FailedPage, type ReadList } from './read-list.js';

export function judgeApi(workspace: string, lists: readonly ReadList[], budget: Budget): Finding[] {
  const about = (what: string): string => `${workspace}: ${what}`;
  const apartMs = clockApartMs(lists);
  return [
    token(about('token'), workspace, lists),
    ...lists.flatMap((read) => listFindings(about(read.list.name), read, lists)),
    ...(apartMs === null ? [] : [clockFinding(about('clock of the API'), apartMs, 'the server of the API')]),
    quota(about('quota'), lists, budget),
  ];
}

interface Budget {
  requests: number;
  perSeconds: number;
}

function token(check: string, workspace: string, lists: readonly ReadList[]): Finding {
  const refused = lists.filter(({ pages, failed }) => pages.length === 0 && isRefused(failed));
  const what = refused[0]?.failed?.what;
  if (what === undefined) {
    const isRead = lists.some(({ pages }) => pages.length > 0);
    return isRead ? ok(check, 'accepted') : skipped(check, 'not known: no list could be read');
  }
  const of = refused.length === lists.length ? 'every list' : refused.map(({ list }) => list.name).join(', ');
  return error(check, `refused for ${of}: ${what}`, `Set a valid token for workspace "${workspace}".`);
}

function isRefused(failed: FailedPage | null): boolean {
  return failed?.status === 401 || failed?.status === 403;
}

const CURSOR_TODO =
  'Ask the operator of the API: a list is read to where its cursors lead, and its later rows are not seen.';

function listFindings(check: string, read: ReadList, all: readonly ReadList[]): Finding[] {
  const { list, pages, failed } = read;
  const [first, second] = pages;
  if (first === undefined) {
    // The token has a finding of its own.
    return failed === null || isRefused(failed) ? [] : [error(check, failed.what, unreadTodo(failed, list.path))];
  }
  const rows = pages.map(({ records }) => records.length);
  const shown = `"${keyOf(read)}", ${rows.join(' and ')} rows`;
  if (failed !== null)
    return [error(check, `${shown}; asked for the next page, ${failed.what}`, todoOf(failed, CURSOR_TODO))];
  if (second !== undefined && idsOf(second) === idsOf(first))
    return [error(check, `${shown}; the cursor of the first page leads to the same rows`, CURSOR_TODO)];
  const { found, missing } = expectedFields(read);
  const without = first.records.length === 0 || missing.length === 0 ? '' : `; not found: ${some(missing)}`;
  const seen = `${shown}; ${cursorText(second)}${without}`;
  if (second === undefined && first.saysEnd !== true && isAsLongAsPages(first.records.length, wholePages(all)))
    return [warning(check, seen, 'If the CRM shows more, its cursor has another name: ask the operator of the API.')];
  if (without === '' || missing.length <= found) return [ok(check, seen)];
  const todo = 'Compare with "changefeed schema" after a sweep: a field with another name is not understood.';
  return [warning(check, seen, todo)];
}

function cursorText(second: ReadList['pages'][number] | undefined): string {
  if (second === undefined) return 'no cursor, the list ends there';
  return second.records.length === 0 ? 'the cursor leads to an empty page' : 'the cursor leads on';
}

/** Rows of the pages that another one follows. */
function wholePages(lists: readonly ReadList[]): number[] {
  return lists.flatMap(({ pages }) => pages.flatMap((page) => (page.nextCursor === null ? [] : page.records.length)));
}

function idsOf({ records }: ReadList['pages'][number]): string {
  return JSON.stringify(records.map((record) => record['id'] ?? record));
}

function todoOf({ status, what }: FailedPage, otherwise: string): string {
  if (what.includes(EXTRA_CA)) return 'Set NODE_EXTRA_CA_CERTS for every process of the feed.';
  if (status === null) return 'Check baseUrl, DNS, proxy and firewall from this machine.';
  return status === 429 ? 'Other clients use up the quota. Lower budget, or ask again later.' : otherwise;
}

function unreadTodo(failed: FailedPage, path: string): string {
  const absent = `Check baseUrl: it is what stands before /${path}. If this account has no such list, set enabled: false for it.`;
  return todoOf(failed, failed.status === 404 ? absent : 'Ask the operator of the API.');
}

const ABOUT_A_LIMIT = /rate-?limit|quota|retry-after|throttl/;
/** A longer or stranger value may be an id. */
const PLAIN = /^[\w ,;:=./-]{1,60}$/;

function quota(check: string, lists: readonly ReadList[], budget: Budget): Finding {
  const answers = lists.flatMap((read) => read.answers);
  const headers = new Map(answers.flatMap((answer) => Object.entries(answer.headers)));
  const limits = [...headers].filter(([name]) => ABOUT_A_LIMIT.test(name));
  const named = limits.map(([name, value]) => `${name}: ${PLAIN.test(String(value)) ? String(value) : '(not shown)'}`);
  const shown = named.length === 0 ? 'the API names no limit' : named.join('; ');
  const ours = `budget ${budget.requests} requests per ${budget.perSeconds} s`;
  if (answers.every(({ status }) => status !== 429)) return ok(check, `no 429; ${shown}; ${ours}`);
  const todo = 'Lower budget.requests, so that other clients have their part.';
  return warning(check, `answered 429; ${shown}; ${ours}`, todo);
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

export function judgeOffers(workspace: string, offered: readonly ReadList[]): Finding[] {
  if (offered.length === 0) return [];
  const said = offered.map(({ list: { name, object, history }, pages, failed }) => {
    if (pages.length === 0) return `${name} is not served (${failed?.status ?? 'no answer'})`;
    const of = history?.of.map((one) => `crm.${one.object}`).join(' and ');
    return `${name} is served and off (${of === undefined ? `events crm.${object}.*` : `edits of ${of} in about 2 s, with who made them`})`;
  });
  return [ok(`${workspace}: ready-made lists`, said.join('; '))];
}

const MOST_NAMED = 5;

function some(names: readonly string[]): string {
  return `${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? `, … (${names.length})` : ''}`;
}
