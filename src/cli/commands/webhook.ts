import { loadConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import { ChangefeedError } from '../../errors.js';
import { nearest } from '../../schema-kit/did-you-mean.js';
import type { Colours } from '../colours.js';
import type { GlobalOptions, Io } from '../io.js';

export interface WebhookTestOptions extends GlobalOptions {
  args: readonly string[];
  json?: boolean;
}

type Tested = Config['subscriptions'][number];
type Pinged = Awaited<ReturnType<NonNullable<Tested['ping']>>>;

/** `changefeed webhook test`: needs the configuration and the endpoint, and no Redis. */
export async function webhookTest({ args: [, name = ''], json = false, config: path }: WebhookTestOptions, io: Io) {
  const { config } = await loadConfig({ cwd: io.cwd, env: io.env, path });
  const { ping, close } = findWebhook(name, config);
  try {
    const pinged = await ping({ signal: io.signal });
    io.out(json ? JSON.stringify(pinged) : pingedText(pinged, io.colours.out));
    return pinged.outcome === 'accepted' ? 0 : 1;
  } finally {
    await close?.();
  }
}

function findWebhook(name: string, { subscriptions }: Config): Tested & Required<Pick<Tested, 'ping'>> {
  const webhooks = subscriptions.filter((one) => one.ping !== undefined).map((one) => one.name);
  const those = webhooks.length === 0 ? 'The configuration has no webhook.' : `Webhooks: ${webhooks.join(', ')}.`;
  const found = subscriptions.find((one) => one.name === name);
  if (found === undefined) {
    const meant = nearest(name, webhooks);
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    throw usage(`There is no subscription "${name}"${hint}. ${those}`);
  }
  const { ping } = found;
  if (ping === undefined)
    throw usage(`"${name}" is a subscription of the handler ${found.handler}, not a webhook. ${those}`);
  return { ...found, ping };
}

function pingedText(pinged: Pinged, { bold, dim, green, red }: Colours): string {
  const { outcome, subscription, place, status, ms, problem, body, id, type, signatures } = pinged;
  const accepted = outcome === 'accepted';
  const said = status === null ? `no answer from ${place}` : `${place} answered ${status} in ${ms} ms`;
  const head = [
    `${accepted ? green('accepted') : red(outcome)}  ${bold(subscription)}: ${said}`,
    ...(problem === null ? [] : [problem]),
  ];
  // What nobody has received is of no use for comparing.
  if (status === null) return head.join('\n');
  return [
    ...head,
    ...signatures.map(({ secret, signature }) => `${dim(`secret ${secret}  `)}  ${signature}`),
    `${dim('webhook-id')}  ${id}`,
    `${dim('type      ')}  ${type}`,
    `${dim('answer    ')}  ${body === '' ? dim('nothing in its body') : body}`,
  ].join('\n');
}

function usage(message: string): ChangefeedError {
  return new ChangefeedError('CF_USAGE', { message });
}
