/**
 * Asks a live API what the interface leaves open, and describes its answers without record contents: no values, and names of fields only
 * if the interface or other real answers have them. A user can send the report to someone else.
 */
import type { ListName } from '../crm/lists/lists.js';
import { askLists, type AskOptions } from './ask.js';
import { fieldsOf, type ListFields } from './fields.js';
import type { Offer } from './offers.js';
import { orderOf, type ListOrder } from './order.js';
import { pagingOf, type Paging } from './paging.js';
import { walkedPages } from './sample.js';
import { clockApartMsOf, limitsOf, trafficOf, type Limits, type Traffic } from './traffic.js';

export interface ProbedList extends Paging, ListOrder, ListFields, Traffic {
  list: ListName;
  path: string;
  requests: number;
  /** The pages and records that the answers are drawn from. */
  pages: number;
  records: number;
}

export interface FailedList {
  list: ListName;
  path: string;
  requests: number;
  /** HTTP status; null when there was no answer. */
  status: number | null;
  /** What the server says, shortened. */
  words: string;
}

export interface ProbeReport {
  requests: number;
  lists: ProbedList[];
  /** Lists whose first page could not be read. */
  failed: FailedList[];
  /** Ready-made lists that are not polled. Absent where lists were named. */
  offers?: Offer[];
  limits: Limits;
  /** The clock of the API less that of this machine, ms; null when no answer had a date. */
  clockApartMs: number | null;
}

export async function probeLists(options: AskOptions): Promise<ProbeReport> {
  const asked = (await askLists(options)).filter(({ samples }) => samples.length > 0);
  const lists: ProbedList[] = [];
  const failed: FailedList[] = [];
  for (const { list, samples } of asked) {
    const about = { list: list.name, path: list.path, requests: samples.length };
    const pages = walkedPages(samples);
    const [first] = samples;
    if (pages.length === 0 && first !== undefined) {
      failed.push({ ...about, status: first.answer?.status ?? null, words: first.words });
      continue;
    }
    const records = pages.reduce((sum, { page }) => sum + page.records.length, 0);
    const parts = {
      ...pagingOf(samples),
      ...orderOf(list, samples),
      ...fieldsOf(list, samples),
      ...trafficOf(samples),
    };
    lists.push({ ...about, pages: pages.length, records, ...parts });
  }
  const all = asked.flatMap(({ samples }) => samples);
  return { requests: all.length, lists, failed, limits: limitsOf(all), clockApartMs: clockApartMsOf(all) };
}
