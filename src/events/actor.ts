/** Who made a change, and which subscriptions ask for it. */
import type { Words } from '../words/words.js';
import type { ActorType } from './kinds.js';
import type { Actor, ChangeEvent } from './types.js';

/** A kind of actor, `unknown`, or one actor. */
export type ActorRule = ActorType | 'unknown' | { readonly type: ActorType; readonly id: string };

/** Two without an id are not known to be the same, but the system is one. */
export function isSameActor(one: Actor | null | undefined, other: Actor | null | undefined): boolean {
  if (one == null || one.type !== other?.type) return false;
  return one.id === null ? one.type === 'field' && other.id === null : one.id === other.id;
}

/** Only the actor of all changes of an event counts. */
export function isBy(rules: readonly ActorRule[], { data: { actor } }: ChangeEvent): boolean {
  return rules.some((rule) =>
    typeof rule === 'string' ? rule === (actor?.type ?? 'unknown') : rule.type === actor?.type && rule.id === actor.id,
  );
}

export function actorsOf({ data: { actor, changes } }: ChangeEvent): Actor[] {
  return actor === undefined ? changes.flatMap((change) => change.actor ?? []) : [actor];
}

/** @param text a kind of actor, `unknown`, an id, or part of a name */
export function compileActor(text: string): (event: ChangeEvent) => boolean {
  const isMeant = actorNamed(text);
  return (event) => {
    const actors = actorsOf(event);
    return actors.length === 0 ? isMeant(null) : actors.some(isMeant);
  };
}

/** Says it of one actor; null: not known. */
export function actorNamed(text: string): (actor: Actor | null) => boolean {
  const part = normal(text);
  return (actor) => {
    if (actor === null) return text === 'unknown';
    const { type, id, name } = actor;
    return type === text || id === text || normal(name ?? '').includes(part);
  };
}

function normal(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** The name, or what it is. A change of type `field` follows from another one. */
export function textOfActor({ type, name }: Actor, { word }: Pick<Words, 'word'>): string {
  return name !== null && name !== '' ? name : word('actor', type);
}
