/** How fast a server answers, and what it says about its limit. Pure. */
import type { Sample } from './sample.js';

export interface Traffic {
  /** ms */
  latency: { p50: number; p95: number };
  /** Median size of a page, unpacked; null without a page. */
  pageBytes: number | null;
}

export interface Limits {
  /** How often the answer was 429. */
  refused: number;
  /** What a 429 says. */
  words: string | null;
  /** Headers about a limit: their names and short plain values. */
  headers: Record<string, string>;
}

export function trafficOf(samples: readonly Sample[]): Traffic {
  const times = samples.flatMap(({ answer }) => answer?.ms ?? []);
  const sizes = samples.flatMap(({ page, answer }) =>
    page === null || page.records.length === 0 ? [] : (answer?.bytes ?? []),
  );
  return {
    latency: { p50: Math.round(quantile(times, 0.5) ?? 0), p95: Math.round(quantile(times, 0.95) ?? 0) },
    pageBytes: quantile(sizes, 0.5),
  };
}

const ABOUT_A_LIMIT = /rate-?limit|quota|retry-after|throttl/;
/** A longer or stranger value may be an id. */
const PLAIN = /^[\w ,;:=./-]{1,60}$/;

export function limitsOf(samples: readonly Sample[]): Limits {
  const refused = samples.filter(({ answer }) => answer?.status === 429);
  const headers = samples.flatMap(({ answer }) =>
    Object.entries(answer?.headers ?? {}).filter(([name]) => ABOUT_A_LIMIT.test(name)),
  );
  return {
    refused: refused.length,
    words: refused[0]?.words ?? null,
    headers: Object.fromEntries(
      headers.map(([name, value]) => [name, PLAIN.test(String(value)) ? String(value) : '(not shown)']),
    ),
  };
}

/** Of the last answer with a date. A date has whole seconds: half a second is added. */
export function clockApartMsOf(samples: readonly Sample[]): number | null {
  const apart = samples.flatMap(({ answer }) => {
    const date = Date.parse(String(answer?.headers['date']));
    return answer === null || Number.isNaN(date) ? [] : [date + 500 - (answer.askedAt + answer.ms / 2)];
  });
  return apart.at(-1) ?? null;
}

/** Nearest rank; null for no values. */
function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}
