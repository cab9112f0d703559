/** What a text says whatever its spelling: a time is its instant, and a link leads to the same file however it is signed. */

/** With a zone: otherwise it is no instant. */
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:(Z)|([+-]\d\d):?(\d\d)?)$/iu;

/** A text of the same form for all texts that mean the same. Any other text is its own form. */
export function meaningOfText(text: string): string {
  // Most texts are no times, and are known as such by one character.
  const time = text[4] === '-' ? TIME.exec(text) : null;
  if (time !== null) return instantOf(text, time);
  return text.includes('?') ? text.replace(LINK_QUERY, withoutSignature) : text;
}

/** UTC, with as many digits as the text has: two times within one millisecond are two times. */
function instantOf(text: string, [, day, minute, second = '00', fraction = '', utc, hours, minutes]: string[]): string {
  let at = `${day ?? ''}T${minute ?? ''}:${second}`;
  if (utc === undefined) {
    // A day that does not exist, such as 30 February, has no instant, though the platform makes one.
    const local = new Date(`${at}Z`);
    const moved = new Date(`${at}${hours ?? ''}:${minutes ?? '00'}`);
    if (Number.isNaN(moved.getTime()) || !local.toISOString().startsWith(at)) return text;
    at = moved.toISOString().replace(/\.\d+Z$/u, '');
  }
  const digits = fraction.replace(/0+$/u, '');
  return `${at}${digits === '' ? '' : `.${digits}`}Z`;
}

/** From its question mark to its end, also inside text and HTML. */
const LINK_QUERY = /\?[^\s"'<>]+/gu;
/** One parameter. What cannot stand in a value unescaped, such as a bracket, belongs to the text behind the link. */
const PARAMETER = /([?&])(?:amp;)?([\w-]+)=[\w.~%+/=:;,!@$*-]*/gu;

/**
 * Pairs: with a parameter of each kind, a link is signed, and all of both are left out. Alone, `token`, `expires` or
 * `st` may say which file is meant.
 */
const SIGNING = [
  // Amazon, Google, Alibaba; what is compatible with them. Alibaba's `x-oss-process` changes the picture.
  [/^x-(?:amz|goog)-|^x-oss-(?!process)/iu, /^x-(?:amz|goog)-|^x-oss-(?!process)/iu],
  [
    /^q-signature$/iu,
    /^(?:q-(?:sign-algorithm|ak|sign-time|key-time|header-list|url-param-list)|x-cos-security-token)$/iu,
  ],
  // Azure
  [/^sig$/u, /^(?:se|sp|sv|sr|st|si|ss|srt|spr|sip|sdd|ses|sks|skt|ske|skv|skoid|sktid|saoid|suoid|scid)$/u],
  // CloudFront, the older form of Amazon, Google and Alibaba, and links of one's own
  [
    /^(?:x-)?(?:sig|signature|token|hmac)$/iu,
    /^(?:x-)?(?:expires?|expiry|exp|policy|key-pair-id|awsaccesskeyid|googleaccessid|ossaccesskeyid|security-token)$/iu,
  ],
] as const;

function withoutSignature(query: string): string {
  const names = [...query.matchAll(PARAMETER)].map(([, , name = '']) => name);
  const signing = SIGNING.filter((kinds) => kinds.every((kind) => names.some((name) => kind.test(name)))).flat();
  if (signing.length === 0) return query;
  const kept = query.replace(PARAMETER, (parameter, before: string, name: string) => {
    if (!signing.some((kind) => kind.test(name))) return parameter;
    return before === '?' ? before : '';
  });
  return kept.replace(/\?&(?:amp;)?/u, '?').replace(/\?(?![\w%])/u, '');
}
