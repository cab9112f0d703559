/** The buttons below a message in Slack, and what a click on one says. Pure. */
import { z } from 'zod';
import type { MutedRecord } from '../handler.js';
import { shorten } from '../../../kit/printable.js';
import { wordsFor, type Language } from '../../../words/words.js';

/** What they are about: a record, and the subscription that told of it. */
export interface ButtonsOf extends MutedRecord {
  workspace: string;
}

export const BUTTONS = { changefeed_snooze: 'snooze', changefeed_mute: 'mute' } as const;
type ActionId = keyof typeof BUTTONS;
export type Button = (typeof BUTTONS)[ActionId];

/** Of a section, of a button's value and of the texts of a question, as Slack documents them. */
const LONGEST_SECTION = 3_000;
const LONGEST_VALUE = 2_000;
const LONGEST_LABEL = 75;

const valueSchema = z.strictObject({ s: z.string(), w: z.string(), l: z.string(), r: z.string() });

/** Null: the id of the record is longer than a button can say. */
export function blocksOf(text: string, about: ButtonsOf, language: Language): object[] | null {
  const { subscription: s, workspace: w, list: l, id: r } = about;
  const value = JSON.stringify({ s, w, l, r });
  if (value.length > LONGEST_VALUE) return null;
  const { t } = wordsFor(language);
  const plain = (words: string) => ({ type: 'plain_text', text: shorten(words, LONGEST_LABEL) });
  const button = (id: ActionId, words: string, more: object = {}) => ({
    ...{ type: 'button', action_id: id, text: plain(words), value },
    ...more,
  });
  const confirm = {
    title: plain(t('button.mute')),
    text: plain(t('button.muteQuestion')),
    confirm: { type: 'plain_text', text: t('button.yes') },
    deny: { type: 'plain_text', text: t('button.no') },
  };
  return [
    ...sectionsOf(text).map((part) => ({ type: 'section', text: { type: 'mrkdwn', text: part } })),
    {
      type: 'actions',
      elements: [
        button('changefeed_snooze', t('button.snooze')),
        button('changefeed_mute', t('button.mute'), { confirm }),
      ],
    },
  ];
}

/** Cut between lines, or at least between words. */
function sectionsOf(text: string): string[] {
  if (text.length <= LONGEST_SECTION) return [text];
  const head = text.slice(0, LONGEST_SECTION);
  const at = [head.lastIndexOf('\n'), head.lastIndexOf(' ')].find((found) => found > 0) ?? LONGEST_SECTION;
  return [text.slice(0, at), ...sectionsOf(text.slice(at).trimStart())];
}

/** Null: it is no button of ours. */
export function readClick({ action_id: id, value }: { action_id: string; value?: string | undefined }) {
  if (!Object.hasOwn(BUTTONS, id)) return null;
  const read = valueSchema.safeParse(jsonOf(value ?? ''));
  if (!read.success) return null;
  const { s, w, l, r } = read.data;
  return { button: BUTTONS[id as ActionId], about: { subscription: s, workspace: w, list: l, id: r } };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
