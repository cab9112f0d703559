/** Who made a change, and which subscriptions ask for it. */
import type { Actor, ActorType, ChangeEvent } from './types.js';

/** A kind of actor, `unknown`, or one actor. */
export type ActorRule = ActorType | 'unknown' | { readonly type: ActorType; readonly id: string };

export function isSameActor(one: Actor | null | undefined, other: Actor | null | undefined): boolean {
  return one?.type === other?.type && one?.id === other?.id;
}

/** Only the actor of all changes of an event counts. */
export function isBy(rules: readonly ActorRule[], { data: { actor } }: ChangeEvent): boolean {
  return rules.some((rule) =>
    typeof rule === 'string' ? rule === (actor?.type ?? 'unknown') : rule.type === actor?.type && rule.id === actor.id,
  );
}

/** The name, or what it is. */
export function textOfActor({ type, name }: Actor): string {
  return name === null || name === '' ? type : name;
}
