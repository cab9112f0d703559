/** What one answer of each list says about token, address, shape, clock and quota. Pure. */
import { IN_CLEAR, sendsInClear } from '../schema-kit/addresses.js';
import { clockFinding, error, ok, warning, type Finding } from './finding.js';

export interface ListAnswer {
  list: string;
  path: string;
  /** HTTP status; null when there was no answer. */
  status: number | null;
  /** What a failed answer says, shortened. */
  words: string;
  /** Null when the answer was no page of the interface. `present` and `missing`: the fields of the interface. */
  page: { records: number; present: number; missing: readonly string[] } | null;
}

export interface ApiFacts {
  workspace: string;
  answers: readonly ListAnswer[];
  /** The clock of the API less ours, ms; null when no answer had a date. */
  clockApartMs: number | null;
  /** Headers about a limit. */
  limitHeaders: Readonly<Record<string, string>>;
  budget: { requests: number; perSeconds: number };
}

/** The token and the records are people's data: over http anyone on the way can read them. */
export function judgeAddress(workspace: string, baseUrl: string): Finding[] {
  if (!sendsInClear(baseUrl)) return [];
  return [warning(`${workspace}: baseUrl`, IN_CLEAR, 'Use https in baseUrl.')];
}

export function judgeApi({ workspace, answers, clockApartMs, limitHeaders, budget }: ApiFacts): Finding[] {
  const about = (what: string): string => `${workspace}: ${what}`;
  return [
    token(about('token'), workspace, answers),
    // The token has a finding of its own.
    ...answers.filter((answer) => !isRefused(answer)).map((answer) => shape(about(answer.list), answer)),
    ...(clockApartMs === null ? [] : [clockFinding(about('clock of the API'), clockApartMs, 'the server of the API')]),
    quota(about('quota'), { answers, limitHeaders, budget }),
  ];
}

function token(check: string, workspace: string, answers: readonly ListAnswer[]): Finding {
  const refused = answers.filter(isRefused);
  const todo = `Set a valid token for workspace "${workspace}".`;
  if (refused.length === 0) {
    if (answers.some(({ page }) => page !== null)) return ok(check, 'accepted');
    return { ...error(check, 'not known: no list could be read', todo), result: 'skipped', todo: null };
  }
  const of = refused.length === answers.length ? 'every list' : refused.map(({ list }) => list).join(', ');
  return error(check, `refused for ${of} (${refused[0]?.status ?? ''}): ${refused[0]?.words ?? ''}`, todo);
}

function isRefused({ status }: ListAnswer): boolean {
  return status === 401 || status === 403;
}

function shape(check: string, { status, words, page, path }: ListAnswer): Finding {
  if (page !== null) {
    const { records, present, missing } = page;
    if (records === 0) return ok(check, 'an empty page: nothing to compare with the interface');
    const without = missing.length === 0 ? '' : `, without ${missing.length} fields of the interface: ${some(missing)}`;
    const seen = `a page of ${records} records${without}`;
    if (missing.length <= present) return ok(check, seen);
    return warning(check, seen, 'Ask "changefeed probe", and compare: a field with another name is not understood.');
  }
  const todo = {
    none: 'Check baseUrl, DNS, proxy and firewall from this machine.',
    404: `Check baseUrl: it is what stands before /${path}. If this account has no such list, set enabled: false for it.`,
    429: 'Other clients use up the quota. Lower budget, or ask again later.',
  }[status ?? 'none'];
  const answered = status === null ? `no answer${words === '' ? '' : `: ${words}`}` : `answer ${status}: ${words}`;
  return error(check, answered, todo ?? 'Ask the operator of the API, or run "changefeed probe" for more.');
}

function quota(
  check: string,
  { answers, limitHeaders, budget }: Pick<ApiFacts, 'answers' | 'limitHeaders' | 'budget'>,
): Finding {
  const headers = Object.entries(limitHeaders).map(([name, value]) => `${name}: ${value}`);
  const shown = headers.length === 0 ? 'the API names no limit' : headers.join('; ');
  const ours = `budget ${budget.requests} requests per ${budget.perSeconds} s`;
  if (!answers.some(({ status }) => status === 429)) return ok(check, `no 429; ${shown}; ${ours}`);
  return warning(
    check,
    `answered 429; ${shown}; ${ours}`,
    'Lower budget.requests, so that other clients have their part.',
  );
}

const MOST_NAMED = 5;

function some(names: readonly string[]): string {
  return `${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? ', …' : ''}`;
}
