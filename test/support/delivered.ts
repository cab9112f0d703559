/** Changes of every kind, and the comparison of what was delivered with what the API shows. */
import { expect } from 'vitest';
import { descriptorOf } from '../../src/crm/lists/lists.js';
import { epochOfSequence, firstSequenceOf } from '../../src/events/envelope.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Life } from '../../sandbox/life/life.js';
import type { Difference } from './api-state.js';

export function live(life: Life): void {
  life.createPerson();
  life.createMemo();
  life.createTodo();
  life.addHistory();
  life.addActivity();
  for (let i = 0; i < 6; i++) life.editPerson();
  for (let i = 0; i < 3; i++) life.completeTodo();
  life.editOrganization();
}

/** 1, 2, 3 … within an epoch. */
export function eventNumber(sequence: number): number {
  return sequence - firstSequenceOf(epochOfSequence(sequence)) + 1;
}

type Stories = readonly { subject: string; sequences: readonly number[] }[];

export function expectNoGap(stories: Stories, truth: readonly Difference[]): void {
  const without = stories.filter(({ sequences }) =>
    sequences.some((sequence, index) => eventNumber(sequence) !== index + 1),
  );
  expect(without).toEqual([]);
  expect(stories).toHaveLength(truth.length);
}

/** Checks that the last event of every changed record has its current image. Returns each record's sequences in order of arrival. */
export function deliveredSequences(events: readonly ChangeEvent[], truth: readonly Difference[]): Stories {
  const last = new Map<string, ChangeEvent>();
  const first = new Map<string, ChangeEvent>();
  for (const event of events) {
    if (!first.has(event.id)) first.set(event.id, event);
    const key = `${event.type.split('.')[1]}/${event.subject}`;
    if ((last.get(key)?.data.sequence ?? 0) < event.data.sequence) last.set(key, event);
  }
  const keyOf = ({ list, id }: Difference): string => `${descriptorOf(list).object}/${id}`;
  for (const difference of truth) {
    expect({ record: keyOf(difference), image: last.get(keyOf(difference))?.data.after }).toEqual({
      record: keyOf(difference),
      image: difference.after,
    });
  }
  const subjects = [...new Set([...first.values()].map(({ subject }) => subject))];
  return subjects.map((subject) => ({
    subject,
    sequences: [...first.values()].filter((event) => event.subject === subject).map(({ data }) => data.sequence),
  }));
}
