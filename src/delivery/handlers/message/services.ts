/**
 * Chat services as their public documentation describes incoming webhooks, or the API of a bot: the body, the length of a text, what formats and what notifies.
 * A service without such documentation is not here. Pure.
 */

import type { PersonAddresses } from '../people.js';

/** A person who is notified. */
export interface Mention {
  id: string;
  /** Escaped. */
  name: string;
  /** As it stands in the text. */
  text: string;
}

/** The parts of a text that are ours. Values of records are escaped before they come here. */
export interface Service {
  /** The member of the body that has the text. `payload` must not have it. */
  readonly member: string;
  /** @param text lines; `mentions` are those in it, where the body has to say whom they notify */
  readonly body: (text: string, mentions?: readonly Mention[]) => Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** In characters: a longer text is cut. */
  readonly longest: number;
  /** In bytes of the body that is encoded for it. @defaultValue its longest text always fits */
  readonly mostBytes?: number;
  readonly rate: { readonly requests: number; readonly perSeconds: number };
  readonly bold: (text: string) => string;
  readonly link: (url: string, text: string) => string;
  /** Makes a value mere text: it notifies nobody, disguises no link and formats nothing. An address in it leads where it leads. */
  readonly escape: (text: string) => string;
  /** How a person is notified, who has this id there. @defaultValue its webhooks notify nobody by name */
  readonly mention?: {
    readonly idIn: (person: PersonAddresses) => string | undefined;
    readonly text: (id: string, name: string) => string;
  };
  /** The name that is used there, if it is another one than in the CRM. */
  readonly nameIn?: (person: PersonAddresses) => string | undefined;
  /** What `escape` may make of one character. A text is not cut within it. */
  readonly entity?: RegExp;
  /** The status of HTTP that an answer names although it says 200; null: it has accepted. */
  readonly refusedIn?: (answer: string) => number | null;
}

const USUAL = { longest: 4_000, rate: { requests: 1, perSeconds: 1 } };

/** Mattermost, Rocket.Chat and others take the body of Slack, too. Slack recommends 4,000 characters, and allows one message per second. */
const slack: Service = {
  ...USUAL,
  member: 'text',
  // Slack would fetch the addresses in a record, and show what is there.
  body: (text) => ({ unfurl_links: false, unfurl_media: false, text }),
  bold: (text) => `*${text}*`,
  link: (url, text) => `<${escapeEntities(url.replaceAll('|', '%7C'))}|${text}>`,
  // A line that begins with `&gt;` is a quotation, too.
  escape: besideAddresses(
    (text) => mereText(escapeEntities(text)).replace(/^(?=\s*&gt;)/gm, GAP),
    (address) => escapeEntities(address),
  ),
  mention: { idIn: (person) => person.slack, text: (id) => `<@${id}>` },
  entity: /&[a-z]{0,3}…$/,
};

const SUPPRESS_EMBEDS = 4;

/** At most 2,000 characters. How many messages it takes is not documented, only that it answers 429 with a time. */
const discord: Service = {
  ...USUAL,
  member: 'content',
  body: (content, mentions = []) => ({
    // Whom we name, and nobody whom a text names.
    allowed_mentions: { parse: [], ...(mentions.length > 0 && { users: [...new Set(mentions.map(({ id }) => id))] }) },
    flags: SUPPRESS_EMBEDS,
    content,
  }),
  mention: { idIn: (person) => person.discord, text: (id) => `<@${id}>` },
  longest: 2_000,
  bold: (text) => `**${text}**`,
  link: (url, text) => `[${text}](<${encoded(url, /[<>]/g)}>)`,
  // An e-mail address is no link in these brackets.
  escape: besideAddresses(mereMarkdown, (address) => (isMail(address) ? address : `<${address}>`)),
};

const CARD_BYTES = 27_000;
const TEAMS_ERROR = /Webhook message delivery failed(?:.*?HTTP error (\d{3}))?/s;

/**
 * An adaptive card, for a webhook of Workflows and for the older connectors alike: 28 KB, of which `payload` may have some, and four requests per
 * second. A connector answers 200 also where Teams has refused the message, and says so in the body.
 */
const teams: Service = {
  ...USUAL,
  member: 'attachments',
  body: (text, mentions = []) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          ...(mentions.length > 0 && {
            msteams: {
              entities: mentions.map(({ id, name, text: said }) => {
                return { type: 'mention', text: said, mentioned: { id, name } };
              }),
            },
          }),
          // In a block, the end of a line is no end of a line.
          body: text.split('\n').map((line, at) => ({
            ...{ type: 'TextBlock', text: line, wrap: true },
            ...(at > 0 && { spacing: line === '' ? 'Small' : 'None' }),
          })),
        },
      },
    ],
  }),
  mention: { idIn: ({ teams: id, email }) => id ?? email, text: (_, name) => `<at>${name}</at>` },
  rate: { requests: 4, perSeconds: 1 },
  mostBytes: CARD_BYTES,
  bold: (text) => `**${text}**`,
  link: (url, text) => `[${text}](${encoded(url, /[()]/g)})`,
  // `{{DATE(…)}}` is computed.
  escape: besideAddresses((text) => mereMarkdown(text).replace(/\{(?=\{)/g, `{${GAP}`), asMarkdown),
  refusedIn(answer) {
    const failed = TEAMS_ERROR.exec(answer);
    return failed && Number(failed[1] ?? BAD_GATEWAY);
  },
};

const BAD_GATEWAY = 502;

/** The first line is the message, the others stand below it. Its documentation names no limits, and no formatting but links. */
const jandi: Service = {
  ...USUAL,
  member: 'body',
  body(text) {
    const [first = '', ...others] = text.split('\n');
    const description = others.join('\n').trim();
    return { body: first, ...(description !== '' && { connectInfo: [{ description }] }) };
  },
  headers: { accept: 'application/vnd.tosslab.jandi-v2+json' },
  nameIn: (person) => person.jandi,
  bold: (text) => text,
  link: (url, text) => `[${text}](${encoded(url, /[()]/g)})`,
  escape: besideAddresses(mereMarkdown, (address) => address),
};

/** At most 32,000 bytes, and one message per second in a space. */
const googleChat: Service = {
  ...USUAL,
  member: 'text',
  body: (text) => ({ text }),
  mention: { idIn: (person) => person.googleChat, text: (id) => `<users/${id}>` },
  bold: (text) => `*${text}*`,
  link: (url, text) => `<${encoded(url, /[<>|]/g)}|${text}>`,
  escape: besideAddresses(mereMarkdown, asMarkdown),
};

/** What is not JSON is the answer of something else. In a text that is answered back, quotation marks are escaped. */
const KAKAOWORK_REFUSES = /^\s*[^{\s]|(?<!\\)"success"\s*:\s*false/;
const KAKAOWORK_CODE = /(?<!\\)"code"\s*:\s*"([^"\\]*)/;

/**
 * The API of a bot, which shows a text as it is: no formatting, no mentions. It answers 200 also where it refuses, with `success: false` and a code.
 * Its documentation names no limits of the text and of the rate.
 */
const kakaowork: Service = {
  ...USUAL,
  member: 'text',
  body: (text) => ({ text }),
  bold: (text) => text,
  link: (url, text) => `${text}: ${url}`,
  escape: besideAddresses(mereText, (address) => address),
  refusedIn(answer) {
    if (!KAKAOWORK_REFUSES.test(answer)) return null;
    const code = KAKAOWORK_CODE.exec(answer)?.[1] ?? '';
    if (/auth/.test(code)) return 401;
    if (/too_many|limit/.test(code)) return 429;
    return /not_found|invalid|missing|forbidden|parameter/.test(code) ? 400 : BAD_GATEWAY;
  },
};

export const SERVICES = {
  ...{ slack, discord, teams, jandi, kakaowork },
  'google-chat': googleChat,
} as const satisfies Record<string, Service>;
export type ServiceName = keyof typeof SERVICES;
export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];

function escapeEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** An address of the web or of e-mail. What ends it in a chat is no part of it: a space, quotation marks, brackets of a tag, a bar. */
const ADDRESS =
  /https?:\/\/[^\s\p{C}<>"'`|…]+|(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/giu;
/** No character of any text. */
const PLACE = '\ufdd0';

function isMail(address: string): boolean {
  return !/^https?:/i.test(address);
}

/** Made mere text character by character, an address would look right and lead nowhere. */
function besideAddresses(escape: (text: string) => string, shown: (address: string) => string) {
  return (text: string): string => {
    const addresses: string[] = [];
    const others = text.replaceAll(PLACE, '').replace(ADDRESS, (found) => {
      const address = withoutEnd(found);
      addresses.push(address);
      return `${PLACE}${found.slice(address.length)}`;
    });
    if (addresses.length === 0) return escape(others);
    let next = 0;
    return escape(others).replaceAll(PLACE, () => shown(addresses[next++] ?? ''));
  };
}

/** Punctuation behind an address is of the sentence, and so is a bracket that nothing in it opens. */
function withoutEnd(found: string): string {
  let address = found;
  while (/[.,;:!?\]}]$/.test(address) || (address.endsWith(')') && countOf(address, ')') > countOf(address, '(')))
    address = address.slice(0, -1);
  return address;
}

function countOf(text: string, character: string): number {
  return text.split(character).length - 1;
}

/** The same address: Markdown would read these characters as its own. An underscore within a word is none. */
function asMarkdown(address: string): string {
  return isMail(address) ? address : encoded(address, /[()*~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu);
}

function encoded(address: string, characters: RegExp): string {
  return address.replace(characters, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Shows nothing, and parts what stands around it. */
const GAP = '\u200b';
/** They look like the formatting they replace. A backslash would do in Markdown, and be shown by Slack. */
const LOOKALIKES: Readonly<Record<string, string>> = { '*': '∗', '`': 'ˋ', '~': '∼', _: '＿' };

function mereText(text: string): string {
  return (
    text
      .replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, '')
      // `@everyone` and `@name`; an e-mail address stays whole.
      .replace(/(?<![\p{L}\p{N}.+-])@|@(?=(?:channel|everyone|here|all)\b)/giu, `@${GAP}`)
      // `[text](address)`, `[text][name]` and `[name]: address`.
      .replace(/\](?=[([:])/g, `]${GAP}`)
      // An underscore within a word is part of a name or an address.
      .replace(/[*`~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (mark) => LOOKALIKES[mark] ?? mark)
  );
}

/**
 * Also where `<` and `>` are not written as entities: `<users/all>`, `<@1>`; a heading, a quotation or a list; a spoiler; a backslash,
 * which would take our own formatting behind it for text.
 */
function mereMarkdown(text: string): string {
  return mereText(text)
    .replaceAll('<', `<${GAP}`)
    .replaceAll('||', `|${GAP}|`)
    .replaceAll('\\', `\\${GAP}`)
    .replace(/^(?=\s*(?:[#>]|-#|[-+]\s|\d+[.)]\s))/gm, GAP);
}
