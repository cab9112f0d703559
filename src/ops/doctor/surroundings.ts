/** What the disk, the endpoints and the feed's own problems mean. Pure. */
import type { Reached, Subscription } from '../../delivery/handlers/handler.js';
import type { Formats } from '../../words/format.js';
import { problemText, type Told } from '../../words/problems.js';
import { wordsFor } from '../../words/words.js';
import { error, ok, warning, type Finding, type Text } from './finding.js';

interface Problem extends Told {
  severity: 'error' | 'warning';
  /** Such as `list:people`. */
  subject: string;
}

const LOW_BYTES = 1_073_741_824;
const NONE_BYTES = 104_857_600;

export function judgeDisk(folder: string, freeBytes: number, t: Text): Finding {
  const check = t('doctor.disk');
  const seen = t('doctor.disk.free', { size: (freeBytes / 1_073_741_824).toFixed(1), folder });
  const todo = t('doctor.disk.todo');
  if (freeBytes < NONE_BYTES) return error(check, seen, todo);
  return freeBytes < LOW_BYTES ? warning(check, seen, todo) : ok(check, seen);
}

interface Clear {
  subject: object;
  reason: string;
  remedy: string;
}

export function judgeClear({ subject, reason, remedy }: Clear, t: Text): Finding {
  const name = Object.entries(subject).flat().join(' ');
  return warning(t('doctor.address', { name }), reason, asSentence(remedy));
}

export function judgeEndpoint(name: string, { place, problem, remedy }: Reached, t: Text): Finding {
  const check = t('doctor.endpoint', { name });
  if (problem === null) return ok(check, t('doctor.endpoint.reached', { place }));
  return error(check, problem, remedy ?? t('doctor.endpoint.todo', { name }));
}

/** A handler whose target is on this machine: a file. */
export function judgeHandler({ name, handler, obstacle }: Subscription, t: Text): Finding[] {
  if (obstacle === undefined) return [];
  const check = t('doctor.handler', { name });
  const found = obstacle();
  if (found === null) return [ok(check, t('doctor.handler.ready', { handler }))];
  return [error(check, found.reason, asSentence(found.remedy))];
}

const asSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

interface State {
  processes: number;
  problems: readonly Problem[];
  dead: readonly { subscription: string; count: number }[];
}

/** @param formats also of the numbers and times in a problem */
export function judgeFeed(feed: State, formats: Formats): Finding[] {
  const { t } = wordsFor(formats.language);
  const isOff = feed.processes === 0;
  const off = warning(t('doctor.feed'), t('doctor.feed.off'), t('doctor.feed.start'));
  const problems = feed.problems
    .filter(({ kind }) => !(isOff && kind === 'role.missing'))
    .map((problem): Finding => {
      const { severity, subject } = problem;
      return { result: severity, check: subject.replace(':', ' '), seen: problemText(problem, formats), todo: null };
    });
  const letters = feed.dead
    .filter(({ count }) => count > 0)
    .map(({ subscription: name, count }) =>
      warning(t('doctor.dead', { name }), t('doctor.dead.count', { count }), t('doctor.dead.todo', { name })),
    );
  const found = [...(isOff ? [off] : []), ...problems, ...letters];
  return found.length === 0 ? [ok(t('doctor.feed'), t('doctor.feed.fine'))] : found;
}
