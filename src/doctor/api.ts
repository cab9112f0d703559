/** What a probe with one answer of each list says about token, address, shape, clock and quota. Pure. */
import { IN_CLEAR, sendsInClear } from '../schema-kit/addresses.js';
import type { Offer } from '../probe/offers.js';
import type { FailedList, ProbedList, ProbeReport } from '../probe/probe.js';
import { clockFinding, error, ok, skipped, warning, type Finding } from './finding.js';

/** The token and the records are people's data: over http anyone on the way can read them. */
export function judgeAddress(workspace: string, baseUrl: string): Finding[] {
  if (!sendsInClear(baseUrl)) return [];
  return [warning(`${workspace}: baseUrl`, IN_CLEAR, 'Use https in baseUrl.')];
}

export function judgeApi(workspace: string, report: ProbeReport, budget: Budget): Finding[] {
  const about = (what: string): string => `${workspace}: ${what}`;
  const { lists, failed, clockApartMs } = report;
  return [
    token(about('token'), workspace, report),
    ...lists.map((list) => shape(about(list.list), list)),
    // The token has a finding of its own.
    ...failed.filter((list) => !isRefused(list)).map((list) => unread(about(list.list), list)),
    ...(clockApartMs === null ? [] : [clockFinding(about('clock of the API'), clockApartMs, 'the server of the API')]),
    quota(about('quota'), report, budget),
  ];
}

interface Budget {
  requests: number;
  perSeconds: number;
}

function token(check: string, workspace: string, { lists, failed }: ProbeReport): Finding {
  const refused = failed.filter(isRefused);
  const todo = `Set a valid token for workspace "${workspace}".`;
  const [first] = refused;
  if (first === undefined)
    return lists.length > 0 ? ok(check, 'accepted') : skipped(check, 'not known: no list could be read');
  const of =
    refused.length === lists.length + failed.length ? 'every list' : refused.map(({ list }) => list).join(', ');
  return error(check, `refused for ${of} (${first.status}): ${first.words}`, todo);
}

function isRefused({ status }: FailedList): boolean {
  return status === 401 || status === 403;
}

function shape(check: string, { records, written }: ProbedList): Finding {
  const { present, missing } = written ?? { present: 0, missing: [] };
  if (records === 0) return ok(check, 'an empty page: nothing to compare with the interface');
  const without = missing.length === 0 ? '' : `, without ${missing.length} fields of the interface: ${some(missing)}`;
  const seen = `a page of ${records} records${without}`;
  if (missing.length <= present) return ok(check, seen);
  return warning(check, seen, 'Ask "changefeed probe", and compare: a field with another name is not understood.');
}

function unread(check: string, { status, words, path }: FailedList): Finding {
  const todo = {
    none: 'Check baseUrl, DNS, proxy and firewall from this machine.',
    404: `Check baseUrl: it is what stands before /${path}. If this account has no such list, set enabled: false for it.`,
    429: 'Other clients use up the quota. Lower budget, or ask again later.',
  }[status ?? 'none'];
  const answered = status === null ? `no answer${words === '' ? '' : `: ${words}`}` : `answer ${status}: ${words}`;
  return error(check, answered, todo ?? 'Ask the operator of the API, or run "changefeed probe" for more.');
}

function quota(check: string, { limits }: ProbeReport, budget: Budget): Finding {
  const headers = Object.entries(limits.headers).map(([name, value]) => `${name}: ${value}`);
  const shown = headers.length === 0 ? 'the API names no limit' : headers.join('; ');
  const ours = `budget ${budget.requests} requests per ${budget.perSeconds} s`;
  if (limits.refused === 0) return ok(check, `no 429; ${shown}; ${ours}`);
  return warning(
    check,
    `answered 429; ${shown}; ${ours}`,
    'Lower budget.requests, so that other clients have their part.',
  );
}

/** What switching ready-made lists on would bring. */
export function judgeOffers(workspace: string, offers: readonly Offer[]): Finding[] {
  if (offers.length === 0) return [];
  const served = offers
    .filter((offer) => offer.served)
    .map(({ list, brings }) => `${list} is served and off (${brings})`);
  const others = offers.filter((offer) => !offer.served);
  const absent = others.map(({ list, status }) => `${list} is not served (${status ?? 'no answer'})`);
  return [ok(`${workspace}: ready-made lists`, [...served, ...absent].join('; '))];
}

const MOST_NAMED = 5;

function some(names: readonly string[]): string {
  return `${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? ', …' : ''}`;
}
