/** The options of what listens: the mirror with its hints (`serve`), and the status page with its API (`http`). */
import { z } from 'zod';
import { addressRange } from '../kit/schema/addresses.js';
import { listOf, matching, strictOptions, text, wholeNumber, yesOrNo } from '../kit/schema/fields.js';
import { ourToken } from '../kit/schema/our-token.js';

const OUR_TOKENS = 'a token of 16 or more characters without spaces, or an object with one per workspace';

const workspaceToken = ourToken(OUR_TOKENS);
const workspaceTokens = z.union([workspaceToken, z.record(z.string(), workspaceToken, { error: OUR_TOKENS })], {
  error: OUR_TOKENS,
});

const listenHost = matching(/^[\w.:-]{1,255}$/, 'a host name or an address to listen on');

export const serveOptions = strictOptions({
  /** The address to listen on. @defaultValue '127.0.0.1' */
  // The loopback interface: the mirror serves personal data, so opening it to a network must be a decision.
  host: listenHost.default('127.0.0.1'),
  /** The port; 0 takes any free port. @defaultValue 4020 */
  port: wholeNumber(0, 65_535).default(4020),
  /** The bearer token of the workspace; with several workspaces, an object with one token for each name. It reads every stored record. */
  token: workspaceTokens,
  /**
   * The token for hints, in the same form. Only this one may be in an address (`?token=`); it must differ from `token`.
   * @defaultValue no hints are taken
   */
  hintToken: workspaceTokens.optional(),
});

const pageToken = ourToken('a token of 16 or more characters without spaces');

const httpTokenOptions = strictOptions({
  /** With this token one sees everything and changes nothing. @defaultValue none */
  read: pageToken.optional(),
  /** With this token one may also pause and resume subscriptions, and retry and drop dead letters. @defaultValue none */
  operate: pageToken.optional(),
});

const A_HOST_NAME = 'the name of a host without a port, such as status.example.com';

const proxyOptions = strictOptions({
  /** Addresses or CIDR ranges of the proxy. The headers of all others are ignored. */
  from: listOf(addressRange, 'addresses or CIDR ranges, such as 10.0.0.7 or 10.0.0.0/8'),
  /**
   * Names under which the proxy asks (`host`, without the port), besides `localhost` and loopback addresses. Under other names it is
   * not believed, because any website can have a name lead here. @defaultValue none
   */
  hosts: z
    .array(matching(/^([\w.-]+|\[[\dA-Fa-f:.]+\])$/, A_HOST_NAME).toLowerCase(), {
      error: `an array: each ${A_HOST_NAME}`,
    })
    .readonly()
    .default([]),
  /** The header in which the proxy names the person it has let in; without it a request is refused. @defaultValue 'x-forwarded-user' */
  userHeader: matching(/^[a-z][a-z0-9-]{0,63}$/, 'the name of a header, in small letters').default('x-forwarded-user'),
  /** The people who may also pause, resume, retry and drop. @defaultValue none */
  operators: z
    .array(text("a person's name, as the proxy writes it"), { error: 'an array of names' })
    .readonly()
    .default([]),
});

const publicUrl = matching(
  /^https?:\/\/[^\s#?]+$/,
  "the page's address as people open it, such as https://status.example.com",
);

export const httpOptions = strictOptions({
  /** False: nothing is served. @defaultValue true */
  enabled: yesOrNo.default(true),
  /** The address to listen on. Any but a loopback address needs `tokens` or `trustedProxy`. @defaultValue '127.0.0.1' */
  host: listenHost.default('127.0.0.1'),
  /** The address under which people open the page, for links in messages: `https://status.example.com`. @defaultValue messages have no links to it */
  publicUrl: publicUrl.optional(),
  /** The port; 0 takes any free port. @defaultValue the usual one, 4021; where that is taken, any free port */
  port: wholeNumber(0, 65_535).optional(),
  /** Who may see the page, and who may act. @defaultValue a token is made, for this machine only: `start` prints it in a link */
  tokens: httpTokenOptions.prefault({}),
  /** A proxy that signs people in and names them in a header. @defaultValue none */
  trustedProxy: proxyOptions.optional(),
});
