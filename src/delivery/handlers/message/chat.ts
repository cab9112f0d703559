/** A channel of a chat service: the options that name it, and how a text is posted to it. */
import { z } from 'zod';
import type { ListName } from '../../../crm/lists/lists.js';
import { secret } from '../../../kit/schema/secret.js';
import { wordsFor } from '../../../words/words.js';
import type { DigestContext, Rate } from '../handler.js';
import { destinationOf, ENDPOINT_RETRY, hiddenParts } from '../http/endpoint.js';
import type { Allowances } from '../http/guard.js';
import { createPost, type EndpointWorld, type Message } from '../http/post.js';
import { SERVICE_NAMES, SERVICES, type Service, type ServiceName } from './services.js';
import { cut, type Reader } from './template.js';

const A_PAYLOAD = 'an object of fields that the service knows, other than';

/** KakaoWork documents an API of bots, and no incoming webhook. */
const serviceError = ({ input }: { input?: unknown }): string => {
  const names = new Intl.ListFormat('en', { type: 'disjunction' }).format(SERVICE_NAMES.map((name) => `'${name}'`));
  return input === 'kakaowork'
    ? `${names} (KakaoWork documents no incoming webhook: write a handler for the API of its bots)`
    : names;
};

export const chatShape = {
  /** Whose webhook it is. It decides the body, the longest text, and what a value of a record must not contain. @defaultValue 'slack' */
  service: z.enum(SERVICE_NAMES, { error: serviceError }).default('slack'),
  /**
   * Further members of the body, unchanged: `{ channel, username, icon_emoji … }`.
   * @defaultValue no previews of links, and in Discord no mentions, which stay unless they are given
   */
  payload: secret(z.record(z.string(), z.unknown(), { error: A_PAYLOAD }))
    .readonly()
    .default({}),
};

interface Channel {
  name: string;
  url: URL;
  allowances: Allowances;
  timeout: number;
  disableAfter: number | undefined;
  rate?: Rate | undefined;
  service: ServiceName;
  payload: Readonly<Record<string, unknown>>;
}

export function refuseText(
  { service, payload }: { service: ServiceName; payload: Readonly<Record<string, unknown>> },
  refuse: (option: string, message: string, input: unknown) => void,
): void {
  const { member } = SERVICES[service];
  if (member in payload) refuse('payload', `${A_PAYLOAD} ${member}`, payload);
}

const REVOKED = 'the URL does not accept messages, or no longer does; create a new one and configure it';

/** @param who begins every message about it: `Message` */
export function openChat(channel: Channel, who: string, world: Partial<EndpointWorld>) {
  const { name: subscription, url, disableAfter: disableAfterMs } = channel;
  const service: Service = SERVICES[channel.service];
  const post = createPost(
    {
      ...channel,
      who: `${who} "${subscription}"`,
      subscription,
      // The path of such a URL is its key: anyone who has it can write to the channel.
      place: url.host,
      hidden: [url.pathname.slice(1), ...url.pathname.split('/'), ...hiddenParts(url)],
      hints: { 401: REVOKED, 403: REVOKED, 404: REVOKED },
      refusedIn: service.refusedIn,
    },
    world,
  );
  return {
    /** What a subscription to this chat is made of. */
    parts: {
      retry: ENDPOINT_RETRY,
      rate: channel.rate ?? service.rate,
      disableAfterMs,
      address: url.host,
      destination: destinationOf(url),
      reach: () => post.reach(),
      close: () => post.close(),
    },
    say: (text: (reader: Reader) => string, context: DigestContext & { list?: ListName | null }) => {
      const { language, timeZone, list, test = false } = context;
      const mark = test ? `${wordsFor(language).t('message.test')} ` : '';
      return post.send(() => encode(`${mark}${text({ service, language, timeZone, list })}`, channel), context);
    },
  };
}

/** The payload may change all that the service documents, but not the text. */
function encode(text: string, { service, payload }: Channel): Message {
  const { body, member, headers }: Service = SERVICES[service];
  const own = body(text);
  return {
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify({ ...own, ...payload, [member]: own[member] }),
  };
}

/** Nothing in it is escaped. */
export interface TitledText {
  title: string;
  lines: readonly string[];
  link?: { text: string; url: string } | null;
}

/** The link stays where the lines are cut. */
export function titledText({ title, lines, link = null }: TitledText, service: Service): string {
  const linked = link === null ? '' : `\n${service.link(link.url, service.escape(link.text))}`;
  const text = [service.bold(service.escape(title)), ...lines.map((line) => service.escape(line))].join('\n');
  return cut(text, service, linked);
}
