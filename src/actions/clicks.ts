/** Does what a reader has clicked below a message: the actions of others, noted as theirs. */
import type { Subscription } from '../delivery/handlers/handler.js';
import { SERVICES } from '../delivery/handlers/message/services.js';
import { isoTime } from '../kit/clock.js';
import { messageOf } from '../kit/errors.js';
import type { Click } from '../ops/server/slack/slack-actions.js';
import { formatsFor } from '../words/format.js';
import type { Language } from '../words/words.js';
import { wordsFor } from '../words/words.js';
import { carryOut, type World } from './carry-out.js';
import type { Action } from './define.js';
import { TABLE } from './table.js';

const DAY_MS = 86_400_000;

/** What is known of whoever reads in that channel. */
export interface Reading {
  subscription: Subscription;
  language: Language;
  timeZone: string;
}

/** @returns what is said to the channel */
export async function actOnClick(
  click: Click,
  world: World,
  { subscription, language, timeZone }: Reading,
): Promise<string> {
  const { by, name: who, address, button, about, atMs } = click;
  const { t } = wordsFor(language);
  const { escape } = SERVICES.slack;
  // Counted from the click, so that the same click sent again says the same.
  const until = isoTime(atMs + DAY_MS);
  const { workspace, list, id } = about;
  // What is unchanged is told once more by itself.
  const isAgain = button === 'snooze' && subscription.unchanged !== undefined;
  const action = (isAgain ? TABLE.snooze : TABLE.mute) as unknown as Action;
  const asked = isAgain ? { workspace, list, id, until } : { ...about, ...(button === 'snooze' && { until }) };
  try {
    const acting = { ...world, caller: null, who: `by ${by}` };
    const answer = await carryOut(action, asked, acting, async (entry) => {
      if (entry !== null) await world.audit.decided({ by, how: 'slack', address, ...entry });
    });
    const { title, until: ends } = answer as { title: string | null; until: string | null };
    const named = { who: escape(who), record: escape(title ?? id) };
    const undo = `\`changefeed unmute ${subscription.name} ${list} ${escape(id)}\``;
    if (ends === null) return t('clicked.mute', { ...named, undo });
    const { dateTime } = formatsFor({ language, timeZone, now: atMs });
    return t('clicked.until', { ...named, until: dateTime(ends) });
  } catch (error) {
    world.audit.count({ by, how: 'slack', address, what: action.name, outcome: 'failed' });
    return t('clicked.failed', { reason: escape(messageOf(error)) });
  }
}
