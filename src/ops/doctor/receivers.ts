/** What the targets of handlers mean: endpoints elsewhere, and what is on this machine. Pure. */
import type { Reached, Subscription } from '../../delivery/handlers/handler.js';
import { error, ok, type Finding, type Text } from './finding.js';

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
