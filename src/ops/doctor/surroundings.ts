/** What the disk, the endpoints and the feed's own problems mean. Pure. */
import type { Reached, Subscription } from '../../delivery/handlers/handler.js';
import { error, ok, warning, type Finding } from './finding.js';

const LOW_BYTES = 1_073_741_824;
const NONE_BYTES = 104_857_600;

export function judgeDisk(folder: string, freeBytes: number): Finding {
  const check = 'disk';
  const seen = `${(freeBytes / 1_073_741_824).toFixed(1)} GB free for ${folder}`;
  const todo = 'Free space there, or set CHANGEFEED_STATE_DIR to another disk. A full disk stops Redis.';
  if (freeBytes < NONE_BYTES) return error(check, seen, todo);
  return freeBytes < LOW_BYTES ? warning(check, seen, todo) : ok(check, seen);
}

export function judgeClear({ subject, reason, remedy }: { subject: object; reason: string; remedy: string }): Finding {
  const check = Object.entries(subject).flat().join(' ');
  return warning(`address of ${check}`, reason, `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`);
}

export function judgeEndpoint(subscription: string, { place, problem, remedy }: Reached): Finding {
  const check = `endpoint of ${subscription}`;
  if (problem === null) return ok(check, `${place} can be reached; nothing was sent`);
  const todo = `Check the address, DNS, TLS and firewalls; "changefeed webhook test ${subscription}" sends a test event.`;
  return error(check, problem, remedy ?? todo);
}

/** A handler whose target is on this machine: a file. */
export function judgeHandler({ name, handler, obstacle }: Subscription): Finding[] {
  if (obstacle === undefined) return [];
  const check = `handler of ${name}`;
  const found = obstacle();
  if (found === null) return [ok(check, `what ${handler} needs on this machine is there`)];
  return [error(check, found.reason, `${found.remedy.charAt(0).toUpperCase()}${found.remedy.slice(1)}.`)];
}

export function judgeFeed(feed: {
  processes: number;
  /** `subject`: such as `list:people`. */
  problems: readonly { severity: 'error' | 'warning'; kind: string; subject: string; message: string }[];
  dead: readonly { subscription: string; count: number }[];
}): Finding[] {
  const isOff = feed.processes === 0;
  const off = warning('feed', 'no process is running: nothing is polled or delivered', 'Run "changefeed start".');
  const problems = feed.problems
    .filter(({ kind }) => !(isOff && kind === 'role.missing'))
    .map(({ severity, subject, message }): Finding => {
      return { result: severity, check: subject.replace(':', ' '), seen: message, todo: null };
    });
  const letters = feed.dead
    .filter(({ count }) => count > 0)
    .map(({ subscription, count }) =>
      warning(
        `dead letters of ${subscription}`,
        `${count} ${count === 1 ? 'event was' : 'events were'} given up`,
        `See "changefeed dead list --subscription ${subscription}", then dead retry or dead drop.`,
      ),
    );
  const found = [...(isOff ? [off] : []), ...problems, ...letters];
  return found.length === 0 ? [ok('feed', 'no problems, no dead letters')] : found;
}
