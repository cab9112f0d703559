/** What keeps the snapshots of a subscription from their end, once for each workspace: it may be several lists. Pure. */
import type { Facts } from '../../words/problems.js';
import type { SubscriptionStatus } from './status.js';

const WAYS = ['held', 'unreadable', 'dead', 'dropped'] as const;

export function incompleteFacts({
  name,
  title,
  incomplete,
}: SubscriptionStatus): { workspace: string; facts: Facts }[] {
  return [...new Set(incomplete.map(({ workspace }) => workspace))].map((workspace) => {
    const own = incomplete.filter((one) => one.workspace === workspace);
    const counts = Object.fromEntries(WAYS.map((way) => [way, own.reduce((sum, one) => sum + one[way], 0)]));
    const records = own.flatMap((one) => one.records).join(', ');
    const among = records === '' ? {} : { among: 'incomplete.among', records };
    return {
      workspace,
      facts: { name, called: title ?? name, lists: own.map(({ list }) => list).join(', '), ...counts, ...among },
    };
  });
}
