import { sendTest } from '../../service/test-event.js';
import type { TestOutcome } from '../../delivery/handlers/handler.js';
import { loadWith } from '../../config/load.js';
import { word } from '../arguments.js';
import { argument, asText, defineCommand, flag, option } from '../command.js';
import { printable, type Colours } from '../text.js';

/** Needs the configuration and what the handler needs, and no Redis of its own. */
export const webhook = defineCommand({
  input: {
    test: argument('the word "test"', word('test')),
    subscription: argument('the name of a subscription', asText),
    type: option('type', 'an event of this type, such as crm.todo.completed (default: changefeed.test)', asText),
    yes: flag('also run a handler that is a function'),
    json: flag('print the outcome as JSON'),
  },
  async run({ subscription, type, yes = false, json = false, config: path }, io) {
    const leaveOut = (problem: string): void => io.err(`Rules are left out: ${problem}`);
    const { config } = await loadWith({ cwd: io.cwd, env: io.env, path }, { leaveOut });
    try {
      const outcome = await sendTest(subscription, { type, run: yes, signal: io.signal }, config);
      io.out(json ? JSON.stringify(outcome) : pingedText(outcome, io.colours.out));
      return outcome.outcome === 'accepted' ? 0 : 1;
    } finally {
      await config.subscriptions.find(({ name }) => name === subscription)?.close?.();
    }
  },
});

function pingedText(pinged: TestOutcome, { bold, dim, green, red }: Colours): string {
  const { outcome, subscription, place, status, ms, problem, body, id, type, signatures } = pinged;
  const accepted = outcome === 'accepted';
  const isHandled = status === null && signatures.length === 0;
  const nothing = isHandled ? `${place}, ${type}, ${Math.round(ms)} ms` : `no answer from ${place}`;
  const answer = status === null ? nothing : `${place} answered ${status} in ${ms} ms`;
  const head = [
    `${accepted ? green('accepted') : red(outcome)}  ${bold(subscription)}: ${answer}`,
    ...(problem === null ? [] : [problem]),
  ];
  // The signature is printed for comparison with what the endpoint received; without an answer it received nothing.
  if (status === null) return head.join('\n');
  return [
    ...head,
    ...signatures.map(({ secret, signature }) => `${dim(`secret ${secret}  `)}  ${signature}`),
    `${dim('webhook-id')}  ${id}`,
    `${dim('type      ')}  ${type}`,
    `${dim('answer    ')}  ${body === '' ? dim('nothing in its body') : printable(body)}`,
  ].join('\n');
}
