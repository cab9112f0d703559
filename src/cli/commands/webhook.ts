import { loadConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import { didYouMean } from '../../schema-kit/did-you-mean.js';
import { usage } from '../../errors.js';
import { word } from '../arguments.js';
import { argument, asText, defineCommand, flag } from '../command.js';
import { printable, type Colours } from '../text.js';

type Webhook = Config['subscriptions'][number];
type Pinged = Awaited<ReturnType<NonNullable<Webhook['ping']>>>;

/** Needs the configuration and the endpoint, and no Redis. */
export const webhook = defineCommand({
  input: {
    test: argument('the word "test"', word('test')),
    subscription: argument('the name of a webhook', asText),
    json: flag('print the outcome as JSON'),
  },
  async run({ subscription, json = false, config: path }, io) {
    const { config } = await loadConfig({ cwd: io.cwd, env: io.env, path });
    const { ping, close } = findWebhook(subscription, config);
    try {
      const pinged = await ping({ signal: io.signal });
      io.out(json ? JSON.stringify(pinged) : pingedText(pinged, io.colours.out));
      return pinged.outcome === 'accepted' ? 0 : 1;
    } finally {
      await close?.();
    }
  },
});

function findWebhook(name: string, { subscriptions }: Config): Webhook & { ping: NonNullable<Webhook['ping']> } {
  const webhooks = subscriptions.filter((one) => one.ping !== undefined).map((one) => one.name);
  const known = webhooks.length === 0 ? 'The configuration has no webhook.' : `Webhooks: ${webhooks.join(', ')}.`;
  const found = subscriptions.find((one) => one.name === name);
  if (found === undefined) throw usage(`There is no subscription "${name}"${didYouMean(name, webhooks)}. ${known}`);
  const { ping } = found;
  if (ping === undefined)
    throw usage(`"${name}" is a subscription of the handler ${found.handler}, not a webhook. ${known}`);
  return { ...found, ping };
}

function pingedText(pinged: Pinged, { bold, dim, green, red }: Colours): string {
  const { outcome, subscription, place, status, ms, problem, body, id, type, signatures } = pinged;
  const accepted = outcome === 'accepted';
  const answer = status === null ? `no answer from ${place}` : `${place} answered ${status} in ${ms} ms`;
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
