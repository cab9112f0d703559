/** Posts events to a program on this machine, signed as the handler `webhook` signs them. Nothing is queued or kept. */
import { randomBytes } from 'node:crypto';
import type { Inspector } from '../actions/inspector.js';
import type { TestOutcome } from '../delivery/handlers/handler.js';
import { webhook } from '../delivery/handlers/webhook/webhook.js';
import type { ChangeEvent } from '../events/types.js';
import { isAborted, sleepUntilAborted, systemClock } from '../kit/clock.js';
import { variableIn } from '../kit/schema/env-variable.js';
import { wordsFor, type Language } from '../words/words.js';
import type { Io } from './io.js';
import { printEvent } from './print-event.js';
import { printable } from './text.js';

const AGAIN_MS = 1_000;
const ANSWER_PLACES = '200  1234 ms  '.length;

/**
 * @param secret `whsec_…`. @defaultValue CHANGEFEED_WEBHOOK_SECRET, else a new one, which is printed
 * @throws ChangefeedError CF_CONFIG_INVALID
 */
export function openForwarding(url: string, secret: string | undefined, io: Io & { language: Language }) {
  const { t } = wordsFor(io.language);
  const given = secret ?? variableIn(io.env, 'CHANGEFEED_WEBHOOK_SECRET');
  const used = given ?? `whsec_${randomBytes(32).toString('base64')}`;
  // Who typed the address means it: it may be on this machine, and without https.
  const allowHosts = [new URL(url).hostname];
  const { ping, close } = webhook({ name: 'listen', on: ['*'], url, allowHosts, secret: used });
  if (given === undefined) io.err(t('listen.signed', { secret: io.colours.err.bold(used) }));

  const answerTo = async (event: ChangeEvent): Promise<TestOutcome | undefined> => {
    for (let isSaid = false; ; isSaid = true) {
      const pinged = await ping?.({ signal: io.signal, event });
      if (pinged?.outcome !== 'unreachable' || isAborted(io.signal)) return pinged;
      if (!isSaid) io.err(`${pinged.problem ?? ''} ${t('listen.again')}`);
      await sleepUntilAborted(systemClock, AGAIN_MS, io.signal);
    }
  };
  return {
    /** Resolves when it was answered, whatever the answer. */
    async send(event: ChangeEvent, lists: Inspector): Promise<void> {
      const answer = await answerTo(event);
      if (answer === undefined || answer.status === null) return;
      const { green, red, dim } = io.colours.out;
      const paint = answer.outcome === 'accepted' ? green : red;
      const head = `${paint(String(answer.status))}${dim(`${answer.ms} ms`.padStart(ANSWER_PLACES - 5))}  `;
      const columns = io.columns && io.columns - ANSWER_PLACES;
      await printEvent(event, lists, { ...io, columns, out: (line) => io.out(head + line) });
      if (answer.problem !== null) io.out(dim(`  ${answer.problem} ${printable(answer.body)}`.trimEnd()));
    },
    close: async (): Promise<void> => close?.(),
  };
}
