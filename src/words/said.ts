/** Sentences of the service that are stored or sent as English text, in the language of the person to whom they are shown. Pure. */
import type { Language } from './words.js';

/** What is in `{…}` stays as it is; the first that fits is taken, and others may follow in the same text. */
const SENTENCES = [
  [
    ': {place} answered {status}: the URL does not accept messages, or no longer does; create a new one and configure it.',
    ': {place}에서 {status}(으)로 답했습니다. 메시지를 받지 않거나 더 이상 받지 않는 주소이니, 새로 만들어 설정하세요.',
  ],
  [
    ': {place} answered {status} (Gone): the endpoint no longer exists.',
    ': {place}에서 {status}(으)로 답했습니다. 더 이상 없는 주소입니다.',
  ],
  [
    ': {place} answered {status}: the event is too large for the receiver; raise its limit and retry the dead letter, or send less (transform, fields).',
    ': {place}에서 {status}(으)로 답했습니다. 받는 쪽에는 이벤트가 너무 큽니다. 받는 쪽의 한도를 높이고 전달 실패를 다시 보내거나, 보내는 내용을 줄이세요(transform, fields).',
  ],
  [
    ': {place} answered {status} and asks to be tried again in {wait}.',
    ': {place}에서 {status}(으)로 답했고, {wait} 뒤에 다시 보내 달라고 합니다.',
  ],
  [
    ': {place} answered {status}: redirects are not followed; put the final URL into the subscription.',
    ': {place}에서 {status}(으)로 답했습니다. 다른 주소로 넘기는 응답은 따라가지 않으니, 최종 주소를 받는 곳에 적으세요.',
  ],
  [
    ': {place} answered {status}: the receiver does not accept the signature or the sender; compare the secrets.',
    ': {place}에서 {status}(으)로 답했습니다. 서명이나 보내는 쪽을 받아들이지 않습니다. 양쪽의 secret이 같은지 확인하세요.',
  ],
  [
    ': {place} answered {status}: the receiver does not read {type}; set `format`.',
    ': {place}에서 {status}(으)로 답했습니다. 받는 쪽이 {type} 형식을 읽지 못하니 format을 정하세요.',
  ],
  [': {place} answered {status} to the sender.', ': {place}에서 보내는 사람을 받아들이지 않았습니다({status}).'],
  [': {place} answered {status} to the recipient.', ': {place}에서 받는 사람을 받아들이지 않았습니다({status}).'],
  [': {place} answered {status} to the mail.', ': {place}에서 메일을 받아들이지 않았습니다({status}).'],
  [
    ' does not accept the user and the password of server ({status}).',
    '에서 server의 사용자와 비밀번호를 받아들이지 않습니다({status}).',
  ],
  [' does not take a mail of this size.', '에서 이 크기의 메일을 받지 않습니다.'],
  [
    ' offers no encryption that could be used (STARTTLS), and a password is not sent without; write smtps:// if it listens for that, or name the host in allowHosts.',
    '에서 쓸 수 있는 암호화(STARTTLS)가 없어 비밀번호를 보내지 않았습니다. smtps:// 주소를 쓰거나, 믿을 수 있는 호스트면 allowHosts에 적으세요.',
  ],
  [': {place} answered {status}.', ': {place}에서 {status}(으)로 답했습니다.'],
  [
    '{error} with a message of {count} characters (shown with LOG_LEVEL=debug)',
    '{error} (메시지 {count}자, LOG_LEVEL=debug이면 로그에 나옵니다)',
  ],
  [
    ' It said {count} characters (shown with LOG_LEVEL=debug)',
    ' 받은 답 {count}자(LOG_LEVEL=debug이면 로그에 나옵니다)',
  ],
  [' did not answer within {time}.', ': {time} 안에 답하지 않았습니다.'],
  ['was cancelled before it answered.', '답하기 전에 취소되었습니다.'],
  [' could not be reached ({reason}).', '에 연결할 수 없습니다({reason}).'],
  ['The service did not answer. Try again in a moment.', '서비스가 답하지 않습니다. 잠시 뒤에 다시 시도하세요.'],
  ['paused on the status page: {reason}.', '상태 페이지에서 일시 중지: {reason}.'],
  ['paused on the status page.', '상태 페이지에서 일시 중지했습니다.'],
  ['paused by {name}: {reason}.', '{name}이(가) 일시 중지: {reason}.'],
  ['paused by {name}.', '{name}이(가) 일시 중지했습니다.'],
  ['Its queue is paused.', '대기열이 멈춰 있습니다.'],
  [
    'This is not a token of this page: those are in http.tokens, in the link that "changefeed start" prints, or in that of an invitation, which ends.',
    '이 페이지의 토큰이 아닙니다. 토큰은 설정의 http.tokens, 서비스를 시작할 때 나오는 링크, 초대 링크에 있습니다. 초대는 기한이 지나거나 취소되었을 수 있으니, 서비스를 운영하는 사람에게 물어보세요.',
  ],
  ['found {found}; allowed: {allowed}', '{found}은(는) 쓸 수 없습니다. 쓸 수 있는 것: {allowed}'],
  ['(did you mean {name}?)', '({name}을(를) 쓰려고 했나요?)'],
  ['a number or a text', '숫자나 텍스트'],
  ['a value, or an array of values', '값 하나나 값의 목록'],
  ['true or false', '예나 아니요'],
] as const satisfies readonly (readonly [english: string, korean: string])[];

/** A text that has none of the sentences stays as it is, and so does what a receiver said. */
export function said(text: string, language: Language): string {
  if (language === 'en') return text;
  const [ours = '', ...theirs] = text.split(IT_SAID);
  return [KOREAN.reduce((rest, { is, korean }) => rest.replace(is, korean), ours), ...theirs].join(' 받은 답: ');
}

const IT_SAID = ' It said: ';

const KOREAN = SENTENCES.map(([english, korean]) => {
  const parts = english.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const names = [...english.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const last = english.endsWith('}') ? '([^\\n]+)' : '';
  const is = new RegExp(parts.join('([^\\n]{1,300}?)').replace(/\(\[\^\\n\]\{1,300\}\?\)$/, last), 'g');
  return { is, korean: korean.replace(/\{(\w+)\}/g, (_, name: string) => `$${names.indexOf(name) + 1}`) };
});
