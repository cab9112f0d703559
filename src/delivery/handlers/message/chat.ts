/** A channel of a chat service: the options that name it, and how a text is posted to it. */
import { z } from 'zod';
import type { ListName } from '../../../crm/lists/lists.js';
import type { PersonInCharge } from '../../../events/person-in-charge.js';
import { matching, yesOrNo } from '../../../kit/schema/fields.js';
import { secret } from '../../../kit/schema/secret.js';
import { wordsFor } from '../../../words/words.js';
import type { DigestContext, Rate } from '../handler.js';
import { destinationOf, ENDPOINT_RETRY, hiddenParts } from '../http/endpoint.js';
import type { Allowances } from '../http/guard.js';
import { createPost, type EndpointWorld, type Message } from '../http/post.js';
import { addressOr, AN_ADDRESS } from '../people.js';
import { IN_CHARGE, inCharge, otherwiseShape } from '../recipients.js';
import { mentionsOf } from './mention.js';
import { SERVICE_NAMES, SERVICES, type Mention, type Service, type ServiceName } from './services.js';
import type { Reader } from './template.js';

const A_PAYLOAD = 'an object of fields that the service knows, other than';

const A_SERVICE = new Intl.ListFormat('en', { type: 'disjunction' }).format(SERVICE_NAMES.map((name) => `'${name}'`));
const AN_ACCOUNT = `'${IN_CHARGE}', or ${AN_ADDRESS}`;
const AN_APP_KEY = 'the app key of the bot, which KakaoWork needs';
const A_CONVERSATION = 'the id of a conversation in digits and quotes';

export const chatShape = {
  /** Whose webhook it is. It decides the body, the longest text, and what a value of a record must not contain. @defaultValue 'slack' */
  service: z.enum(SERVICE_NAMES, { error: A_SERVICE }).default('slack'),
  /**
   * Further members of the body, unchanged: `{ channel, username, icon_emoji … }`.
   * @defaultValue no previews of links, and in Discord no mentions, which stay unless they are given
   */
  payload: secret(z.record(z.string(), z.unknown(), { error: A_PAYLOAD }))
    .readonly()
    .default({}),
  /** KakaoWork: the app key of the bot. The `url` is then `https://api.kakaowork.com/v1`. @defaultValue none */
  appKey: secret(matching(/^[\x21-\x7e]{1,200}$/, AN_APP_KEY)).optional(),
  /** KakaoWork: the id of the conversation in which the bot writes. @defaultValue none: `to` is given */
  conversation: matching(/^\d{1,30}$/, A_CONVERSATION).optional(),
};

/** What only chats that are about records have. */
export const aboutShape = {
  /**
   * True: the person in charge of the record is mentioned, as the service documents it, if `people` has an id there, otherwise named. A digest mentions the first
   * ten. @defaultValue false
   */
  mention: yesOrNo.optional(),
  /**
   * KakaoWork: the e-mail address of the account that gets the message from the bot, or `'person-in-charge'` of the record (then a digest is one message for each
   * person, about their records). @defaultValue none: `conversation` is given
   */
  to: z.union([inCharge, addressOr(AN_ACCOUNT)], { error: AN_ACCOUNT }).optional(),
  ...otherwiseShape,
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
  appKey?: string | undefined;
  conversation?: string | undefined;
  mention?: boolean | undefined;
  to?: string | undefined;
  otherwise?: string | undefined;
}

type Refuse = (option: string, message: string, input: unknown) => void;
type Chosen = Pick<Channel, 'service' | 'payload' | 'appKey' | 'conversation' | 'to' | 'otherwise'>;

export function refuseText(chosen: Chosen, refuse: Refuse): void {
  const { service, payload, appKey, conversation, to, otherwise } = chosen;
  const { member } = SERVICES[service];
  if (member in payload) refuse('payload', `${A_PAYLOAD} ${member}`, payload);
  if (service !== 'kakaowork') {
    for (const [option, given] of Object.entries({ appKey, conversation, to }))
      if (given !== undefined) refuse(option, "only with service: 'kakaowork'", given);
  } else if (appKey === undefined) refuse('appKey', AN_APP_KEY, appKey);
  else if ((conversation === undefined) === (to === undefined))
    refuse('conversation', `with service: 'kakaowork', one of conversation (${A_CONVERSATION}) and to`, conversation);
  if (otherwise !== undefined && to !== IN_CHARGE) refuse('otherwise', `only with to: '${IN_CHARGE}'`, otherwise);
}

const REVOKED = 'the URL does not accept messages, or no longer does; create a new one and configure it';
const NOT_THIS_BOT = 'the app key is not accepted, or no longer is; configure that of the bot';

/** @param who begins every message about it: `Message` */
export function openChat(channel: Channel, who: string, world: Partial<EndpointWorld>) {
  const { name: subscription, url, disableAfter: disableAfterMs } = channel;
  const service: Service = SERVICES[channel.service];
  const { appKey = '' } = channel;
  const refused = channel.service === 'kakaowork' ? NOT_THIS_BOT : REVOKED;
  const post = createPost(
    {
      ...channel,
      url: addressOf(channel),
      who: `${who} "${subscription}"`,
      subscription,
      // The path of such a URL is its key: anyone who has it can write to the channel.
      place: url.host,
      hidden: [url.pathname.slice(1), ...url.pathname.split('/'), ...hiddenParts(url), appKey],
      hints: { 401: refused, 403: refused, 404: refused },
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
      // The address of an API is the same for all.
      destination: destinationOf(url, `${appKey}${channel.conversation ?? ''}`),
      reach: () => post.reach(),
      close: () => post.close(),
    },
    /** @param about whom it is about, the account it goes to, where that is not always the same, and what stands with the text */
    say: (
      text: (reader: Reader) => string,
      context: DigestContext & { list?: ListName | null },
      { inCharge: persons = [], to, blocks = () => null }: Saying = {},
    ) => {
      const { language, timeZone, list, people, test = false } = context;
      const mark = test ? `${wordsFor(language).t('message.test')} ` : '';
      const { prefix, mentions } = mentionsOf(channel.mention === true ? persons : [], service, people);
      const reader = { service: withLess(service, `${mark}${prefix}`, mentions), language, timeZone, list };
      const encoded = (): Message => {
        const whole = `${mark}${prefix}${text(reader)}`;
        return encode(whole, mentions, { ...channel, to: to ?? channel.to, blocks: blocks(whole) });
      };
      return post.send(encoded, context);
    },
  };
}

/** What a message is beyond its text. */
export interface Saying {
  inCharge?: readonly PersonInCharge[];
  to?: string;
  /** What stands with the text, where the service has such. */
  blocks?: (text: string) => object[] | null;
}

function addressOf({ service, url, to }: Channel): URL {
  if (service !== 'kakaowork') return url;
  const base = url.href.replace(/[/]*$/, '');
  return new URL(`${base}/messages.${to === undefined ? 'send' : 'send_by_email'}`);
}

/** What stands before a text is part of it: the rest is cut by as much. */
function withLess(service: Service, before: string, mentions: readonly Mention[]): Service {
  const { longest, mostBytes, body } = service;
  const sizeOf = (...given: Parameters<Service['body']>): number => Buffer.byteLength(JSON.stringify(body(...given)));
  return {
    ...service,
    longest: longest - before.length,
    ...(mostBytes !== undefined && { mostBytes: mostBytes - (sizeOf(before, mentions) - sizeOf('')) }),
  };
}

/** The payload may change all that the service documents, but not the text. */
function encode(text: string, mentions: readonly Mention[], channel: Channel & { blocks: object[] | null }): Message {
  const { service, payload, appKey, conversation, to, blocks } = channel;
  const { body, member, headers }: Service = SERVICES[service];
  const own = body(text, mentions);
  const receiver = to === undefined ? { conversation_id: conversation } : { email: to };
  return {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...headers,
      ...(appKey !== undefined && { authorization: `Bearer ${appKey}` }),
    },
    body: JSON.stringify({
      ...{ ...own, ...payload, [member]: own[member] },
      ...(service === 'kakaowork' && receiver),
      ...(blocks && { blocks }),
    }),
  };
}
