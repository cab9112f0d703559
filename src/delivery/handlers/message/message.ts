/** `message`: events as chat messages, one by one or in digests, through the incoming webhook of a service such as Slack. */
import { z } from 'zod';
import { wholeNumber } from '../../../kit/schema/fields.js';
import type { ListName } from '../../../crm/lists/lists.js';
import { personOf } from '../../../events/person-in-charge.js';
import type { ChangeEvent } from '../../../events/types.js';
import type { DigestContext, DigestSummary, HandlerContext } from '../handler.js';
import type { PersonAddresses } from '../people.js';
import { endpointShape, rateOptions, toEndpoint } from '../http/endpoint.js';
import type { EndpointWorld } from '../http/post.js';
import { defineKind, kindOptions, type OpenedKind } from '../kind.js';
import { digestShape } from '../digest.js';
import { formatsFor } from '../../../words/format.js';
import { addressFor, IN_CHARGE, NOBODY, partsOf, sendParts } from '../recipients.js';
import { readBackground } from './background.js';
import { blocksOf, type ButtonsOf } from './buttons.js';
import { aboutShape, chatShape, openChat, refuseText, type Saying } from './chat.js';
import { buttonShape, clicksOf, refuseButtons } from './clicks.js';
import { digestText, eventsIn } from './digest-text.js';
import { readTemplate, renderTemplate, usualMessage, type Reader } from './template.js';
import { titledText } from './titled-text.js';

const A_TEMPLATE = 'a text that is not empty, with {{title}}, {{changes}}, {{after.이름}} and the like in it';

export const messageOptions = kindOptions({
  ...endpointShape,
  ...digestShape,
  /**
   * Without `digest`: messages that arrive at the URL in any minute, of all subscriptions, rules and workspaces that have a limit there. What is
   * found beyond them until the minute is over becomes one message, as of a digest. `false`: each event is a message. @defaultValue 20
   */
  mostPerMinute: z
    .union([z.literal(false), wholeNumber(1, 1_000)], { error: 'false, or a whole number from 1 to 1000' })
    .optional(),
  /** Number of messages one process sends at the same time. With one, messages have the order of the events. @defaultValue 1 */
  concurrency: wholeNumber(1, 1_000).default(1),
  ...chatShape,
  ...aboutShape,
  ...buttonShape,
  /** Upper bound of the requests to the URL, of all that post there, in all processes. @defaultValue one per second; `teams` four */
  rate: rateOptions.optional(),
  /**
   * The text of the message, with placeholders such as `{{title}}`, `{{changes}}`, `{{after.이름}}`, `{{link}}` or `{{record.담당자 | unassigned}}`.
   * @defaultValue what happened to what, the records of `include`, the due time, the changes, and a link
   */
  template: z
    .string({ error: A_TEMPLATE })
    .refine((text) => text.trim() !== '', { error: A_TEMPLATE })
    .optional(),
});

const limited = messageOptions.refine(({ digest, mostPerMinute }) => digest === undefined || !mostPerMinute, {
  path: ['mostPerMinute'],
  error: 'only without digest',
});

export const messageSchema = limited.transform((options, context) => {
  const { template: source, include = {} } = options;
  const read = source === undefined ? undefined : readTemplate(source, Object.keys(include));
  const refuse = (option: string, message: string, input: unknown): void =>
    context.addIssue({ code: 'custom', path: [option], message, input });
  if (read?.outcome === 'refused') refuse('template', read.allowed, source);
  refuseText(options, refuse);
  refuseButtons(options, refuse);
  return { ...toEndpoint(options, context), template: read?.outcome === 'read' ? read.template : undefined };
});

/** Options of `message`. */
export type MessageOptions = z.input<typeof messageSchema>;
type MessageSettings = z.output<typeof messageSchema>;

/**
 * A subscription that posts each event as a chat message to an incoming webhook: of Slack (and of what takes its body), Discord, Microsoft
 * Teams, JANDI or Google Chat, or by a bot of KakaoWork. Values of records are formatted by language and time zone, and escaped. Answers, retries and refused
 * addresses are handled as by `webhook`. A chat has no idempotency key: a message whose answer was lost appears twice.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_DELIVERY_REFUSED` or `CF_ADDRESS_REFUSED`
 */
export const message = defineKind({
  name: 'message',
  words: { en: 'chat message', ko: '채팅 메시지' },
  options: messageSchema,
  open: (settings) => openMessage(settings),
});

const MOST_PER_MINUTE = 20;

export function openMessage(settings: MessageSettings, world: Partial<EndpointWorld> = {}): OpenedKind {
  const { template, digest, mostPerMinute = MOST_PER_MINUTE, buttons, signingSecret } = settings;
  const { to, otherwise } = settings;
  const clicks = buttons && signingSecret !== undefined ? clicksOf({ ...settings, signingSecret }, world) : undefined;
  const chat = openChat(settings, 'Message', world);
  const single = async (
    event: ChangeEvent,
    context: DigestContext & { list?: ListName | null },
    about: Omit<Saying, 'inCharge'> = {},
  ) => {
    const person = personOf(event);
    const background = await readBackground([event], context);
    const text = template === undefined ? usualMessage : renderTemplate.bind(null, template);
    return await chat.say((reader) => text(event, { ...reader, background }), context, {
      inCharge: person === null ? [] : [person],
      ...about,
    });
  };
  const many = async (summary: DigestSummary, context: DigestContext, about: { to?: string } = {}) => {
    const [event] = summary.first;
    if (to === IN_CHARGE && summary.count === 1 && event !== undefined) return await single(event, context, about);
    const background = await readBackground(eventsIn(summary), context);
    return await chat.say((reader) => renderDigest(summary, { ...reader, background }), context, {
      ...{ inCharge: summary.people, ...about },
    });
  };
  const tell: OpenedKind['tell'] = ({ text, at }, context) => {
    if (to === IN_CHARGE && otherwise === undefined) return NOBODY;
    const said = ({ service, language, timeZone }: Reader): string =>
      titledText(text(formatsFor({ language, timeZone, now: at })), service);
    return chat.say(said, context, otherwise !== undefined && to === IN_CHARGE ? { to: otherwise } : {});
  };
  const directoryOf = ({ people }: DigestContext) => ({ addressIn: accountIn, otherwise, people });
  return {
    mutable: true,
    clicks,
    tell,
    ...chat.parts,
    digest,
    mostPerMinute: digest !== undefined || mostPerMinute === false ? undefined : mostPerMinute,
    deliver: async (event, context) => {
      const about = clicks === undefined ? null : recordOf(event, context);
      const blocks = (said: string) => about && blocksOf(said, about, context.language);
      if (to !== IN_CHARGE) return await single(event, context, { blocks });
      const address = addressFor(personOf(event), directoryOf(context));
      return address === undefined ? NOBODY : await single(event, context, { to: address, blocks });
    },
    handleDigest: async (summary, context) => {
      if (to !== IN_CHARGE) return await many(summary, context);
      const parts = await partsOf(summary, directoryOf(context));
      return await sendParts(parts, context, ({ address, digest: part }) => many(part, context, { to: address }));
    },
  };
}

const accountIn = ({ kakaowork, email }: PersonAddresses): string | undefined => kakaowork ?? email;
/** Null: it is about no record, or about an example. */
function recordOf({ data, subject: id }: ChangeEvent, context: HandlerContext): ButtonsOf | null {
  const { subscription, list, test = false } = context;
  const { name: workspace } = context.workspace;
  return (data.after ?? data.before) === null || list === null || test ? null : { subscription, workspace, list, id };
}

/** As the preview of a rule shows it too. */
export function renderDigest(summary: DigestSummary, { service, language, timeZone, background }: Reader): string {
  const formats = formatsFor({ language, timeZone, now: summary.to.time });
  return titledText(digestText(summary, formats, background), service);
}
