/** The options of buttons in Slack, and the way back: whether a click is genuine, and where its answer goes. */
import { z } from 'zod';
import { usage } from '../../../kit/errors.js';
import { systemClock } from '../../../kit/clock.js';
import { yesOrNo } from '../../../kit/schema/fields.js';
import { secret } from '../../../kit/schema/secret.js';
import { silentLog } from '../../../kit/log.js';
import type { Clicks } from '../handler.js';
import { isNamed, type Allowances } from '../http/guard.js';
import { createPost, type EndpointWorld } from '../http/post.js';
import type { ServiceName } from './services.js';
import { isSignedBySlack } from './slack-signature.js';

const A_SECRET = "the signing secret of the Slack app (Basic Information), such as env('SLACK_SIGNING_SECRET')";

export const buttonShape = {
  /**
   * With `service: 'slack'`: each message about a record has buttons by which a reader mutes the record, for a day or for good. Needs `signingSecret`,
   * and an app in Slack whose interactivity address is `<status page>/slack/actions`. @defaultValue false
   */
  buttons: yesOrNo.default(false),
  /** By which a click is known to be from Slack. @defaultValue none: `buttons` needs it */
  signingSecret: secret(z.string({ error: A_SECRET }).min(16, { error: A_SECRET })).optional(),
};

interface Given {
  service: ServiceName;
  buttons: boolean;
  signingSecret?: string | undefined;
  payload: Readonly<Record<string, unknown>>;
}

export function refuseButtons(
  { service, buttons, signingSecret, payload }: Given,
  refuse: (option: string, message: string, input: unknown) => void,
): void {
  if (!buttons) return;
  if (service !== 'slack') refuse('buttons', "true only with service: 'slack'", buttons);
  if (signingSecret === undefined) refuse('signingSecret', A_SECRET, signingSecret);
  if ('blocks' in payload) refuse('payload', 'an object without blocks, which has the buttons', payload);
}

interface ClicksOf {
  name: string;
  signingSecret: string;
  allowances: Allowances;
  timeout: number;
}

const SLACK = 'hooks.slack.com';
const ANSWER_WITHIN_MS = 10_000;

/** The address in a click was signed by Slack; still, it must be one of Slack, or of a host that is allowed. */
export function clicksOf(
  { name, signingSecret, allowances, timeout }: ClicksOf,
  world: Partial<EndpointWorld>,
): Clicks {
  const { clock = systemClock } = world;
  return {
    isSigned: (request) => isSignedBySlack(request, signingSecret, clock.now()),
    async answer(address, body) {
      const url = URL.canParse(address) ? new URL(address) : null;
      const isSlack = url?.protocol === 'https:' && url.hostname === SLACK && url.port === '';
      if (url === null || !(isSlack || isNamed(url.hostname, allowances)))
        throw usage('The click names an address for its answer that is not of Slack: nothing was sent there.');
      const hidden = [url.pathname.slice(1), ...url.pathname.split('/')];
      const endpoint = { who: `Message "${name}"`, subscription: name, place: url.host, url, allowances };
      const post = createPost({ ...endpoint, timeout, hidden, hints: {} }, world);
      const message = { headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(body) };
      const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
      await post.send(() => message, { log: silentLog, signal }).finally(() => post.close());
    },
  };
}
