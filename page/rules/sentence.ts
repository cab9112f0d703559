/** A rule as one line, in English and in Korean; `**` stands around what was chosen. Pure. */
import { filled, type Language } from '../formats.js';
import { formatsFor } from '../../src/words/format.js';
import { LANGUAGES, wordsFor } from '../../src/words/words.js';
import * as drafts from './draft.js';
import { eventOf, fieldOf, valueIn, type Draft, type Pair, type RuleData } from './draft.js';
import { DAY, DAYS } from './values.js';

type Said = drafts.Operator | 'since';
type Word = (group: 'object' | 'verb', name: string) => string;

const bold = (text: string): string => `**${text === '' ? '…' : text}**`;

export function sentenceOf(draft: Draft, { word, language }: { word: Word; language: Language }): string {
  return (language === 'ko' ? korean : english)(draft, word);
}

/** The name that a person gave to the rule; '' where it is called by its sentence, in either language. */
export function ownNameOf(title: string | undefined, draft: Draft): string {
  const given = LANGUAGES.map((language) => plain(sentenceOf(draft, { word: wordsFor(language).word, language })));
  return title === undefined || given.includes(title) ? '' : title;
}

export const plain = (sentence: string): string => sentence.replaceAll('**', '');

const ENGLISH: Readonly<Record<Said, string>> = {
  becomes: '{field} becomes {value}',
  fromTo: '{field} goes from {value} to {to}',
  changes: '{field} changes',
  rises: '{field} rises{by}',
  falls: '{field} falls{by}',
  is: '{field} is {value}',
  contains: '{field} contains {value}',
  gte: '{field} is at least {value}',
  lte: '{field} is at most {value}',
  isNot: '{field} is not {value}',
  lt: '{field} is before {value}',
  since: '{field} is on {value} or later',
  inNext: '{field} is within the next {value} days',
  ago: '{field} is {value} days ago or longer',
  empty: '{field} is empty',
  filled: '{field} has a value',
};

function english({ rule, conditions, isAny, people, teams }: Draft, word: Word): string {
  const { report } = rule;
  if (report !== undefined) {
    const often = { daily: 'Every day', mon: 'Every Monday' }[String(report.days)] ?? 'Monday to Friday';
    const about = report.what === 'todos' ? 'open and late todos' : 'the changes in numbers';
    return `${bold(`${often} at ${report.at}`)}, report ${bold(about)} to ${bold(rule.to)}`;
  }
  const { object, verb } = eventOf(rule);
  const owners = [...people, ...teams].join(', ');
  const what = `${/^[aeiou]/.test(word('object', object)) ? 'an' : 'a'} ${bold(word('object', object))}${owners === '' ? '' : ` of ${bold(owners)}`}`;
  const isEnough = verb === 'updated' && conditions.length > 0;
  const said = conditions.map((one, at) => {
    const { by, field, ...parts } = partsOf(one, { or: ' or ', language: 'en' });
    const values = { ...parts, field: isEnough && at === 0 ? `${field} of ${what}` : field };
    return filled(ENGLISH[saidOf(one)], { ...values, by: by === '' ? '' : ` by at least ${by}` });
  });
  const happens =
    englishUnchanged(rule, what) ?? `${what} is ${bold(verb === 'any' ? 'created or updated' : word('verb', verb))}`;
  const who = rule.from === undefined ? '' : ' by a person';
  const joined = said.join(isAny ? ' or ' : ' and ');
  const text = [...(isEnough ? [] : [happens]), ...(joined === '' ? [] : [joined])].join(' and ');
  return `When ${text}${who}, notify ${bold(rule.to)}, ${bold(oftenIn(rule, 'en'))}`;
}

function englishUnchanged(rule: RuleData, what: string): string | null {
  const { unchanged } = rule;
  if (unchanged === undefined) return null;
  const days = bold(`${drafts.daysOf(rule) ?? ''} ${unchanged.days === 'working' ? 'working days' : 'days'}`);
  if (unchanged.related !== undefined) return `${what} has had no memo, todo or activity for ${days}`;
  return unchanged.field === undefined
    ? `${what} has not been changed for ${days}`
    : `${bold(unchanged.field)} of ${what} has not changed for ${days}`;
}

function koreanUnchanged(rule: RuleData, name: string): string | null {
  const { unchanged } = rule;
  if (unchanged === undefined) return null;
  const days = bold(`${unchanged.days === 'working' ? '평일 ' : ''}${drafts.daysOf(rule) ?? '…'}일`);
  if (unchanged.related !== undefined) return `${name}에 ${days} 동안 메모, TODO, 활동이 없`;
  return unchanged.field === undefined
    ? `${withIt(name)} ${days} 동안 바뀌지 않`
    : `${name}의 ${withIt(bold(unchanged.field))} ${days} 동안 바뀌지 않`;
}

/** The stem before the ending: …면 or …고. */
const KOREAN: Readonly<Record<Said | 'any' | 'created' | 'updated' | 'deleted', string>> = {
  becomes: '{field이} {value이} 되',
  fromTo: '{field이} {value}에서 {to로} 바뀌',
  changes: '{field이} 바뀌',
  rises: '{field이} {by}늘',
  falls: '{field이} {by}줄',
  is: '{field이} {value}이',
  contains: '{field}에 {value이} 있',
  gte: '{field이} {value} 이상이',
  lte: '{field이} {value} 이하이',
  isNot: '{field이} {value이} 아니',
  lt: '{field이} {value} 전이',
  since: '{field이} {value} 이후이',
  inNext: '{field이} 앞으로 {value}일 안이',
  ago: '{field이} {value}일 이상 지났',
  empty: '{field이} 비어 있',
  filled: '{field}에 값이 있',
  any: '생성되거나 수정되',
  created: '생성되',
  updated: '수정되',
  deleted: '삭제되',
};
const OF_TODOS: Readonly<Record<string, string>> = {
  completed: '완료되',
  overdue: '기한이 지나',
  due_soon: '기한이 임박하',
  reopened: '다시 열리',
  rescheduled: '일정이 변경되',
  reassigned: '담당자가 변경되',
};

function korean({ rule, conditions, isAny, people, teams }: Draft, word: Word): string {
  const { report } = rule;
  if (report !== undefined) {
    const often = `${{ daily: '매일', mon: '매주 월요일' }[String(report.days)] ?? '평일'} ${report.at}`;
    const about = report.what === 'todos' ? `${bold('미완료와 지연 TODO')}를` : `${bold('변경 건수')}를`;
    return `${bold(often)}에 ${about} ${bold(rule.to)}에 보고`;
  }
  const { object, verb } = eventOf(rule);
  const name = bold(word('object', object));
  const owners = [...people, ...teams].join(', ');
  const stems = conditions.map((one) => {
    const { by, ...parts } = partsOf(one, { or: ' 또는 ', language: 'ko' });
    const more = { field이: withIt(parts.field), value이: withIt(parts.value), to로: withTo(parts.to) };
    const values: Record<string, string> = { ...parts, ...more, by: by === '' ? '' : `${by} 이상 ` };
    return KOREAN[saidOf(one)].replace(/\{([^}]+)\}/g, (_, key: string) => values[key] ?? '');
  });
  const isEnough = verb === 'updated' && stems.length > 0;
  const happens = koreanUnchanged(rule, name) ?? `${withIt(name)} ${OF_TODOS[verb] ?? KOREAN[verb as 'any']}`;
  const joined = stems.join(isAny ? '거나 ' : '고 ');
  const text = [...(isEnough ? [] : [happens]), ...(joined === '' ? [] : [joined])].join('고 ');
  const who = `${rule.from === undefined ? '' : '사람이 바꾼 '}${owners === '' ? '' : `${bold(owners)} 담당 `}`;
  const ending = /[있났않없]$/.test(text) ? '으면' : '면';
  return `${who}${isEnough ? `${name}의 ` : ''}${text}${ending} ${bold(rule.to)}에 ${bold(oftenIn(rule, 'ko'))} 알림`;
}

function saidOf(pair: Pair): Said {
  return typeof valueIn(pair, 'gte') === 'string' ? 'since' : (drafts.operatorOf(pair) ?? 'changes');
}

function partsOf(pair: Pair, { or, language }: { or: string; language: Language }) {
  const text = (name: string): string => textOf(valueIn(pair, name), language);
  const names = drafts.valuesOf(pair).filter((name) => name !== 'to' && name !== 'by');
  const by = text('by') === '' ? '' : bold(text('by'));
  const chosen = drafts.chosenIn(pair)?.map((one) => textOf(one, language));
  const value = chosen?.join(or) ?? names.map(text).join('');
  return { field: bold(fieldOf(pair)), value: bold(value), to: bold(text('to')), by };
}

function textOf(value: unknown, language: Language): string {
  if (typeof value === 'string' && !DAY.test(value)) return DAYS.exec(value)?.[1] ?? value;
  const written = typeof value === 'string' ? value.slice(0, 'yyyy-mm-dd'.length) : value;
  // A day has its year, whichever year it is when it is read.
  return formatsFor({ language, now: 0 }).value(written) ?? '';
}

/** How a Korean reads the end, of letters and digits as they are called. */
function endOf(text: string): 'vowel' | 'ㄹ' | 'consonant' {
  const last = text.replaceAll('*', '').at(-1) ?? '';
  const place = last.charCodeAt(0) - 0xac00;
  if (place >= 0 && place < 11_172) return place % 28 === 0 ? 'vowel' : place % 28 === 8 ? 'ㄹ' : 'consonant';
  if (/[178lr]/i.test(last)) return 'ㄹ';
  return /[036mn]/i.test(last) ? 'consonant' : 'vowel';
}

const withIt = (text: string): string => `${text}${endOf(text) === 'vowel' ? '가' : '이'}`;
const withTo = (text: string): string => `${text}${endOf(text) === 'consonant' ? '으로' : '로'}`;

function oftenIn({ digest: given, mostPerMinute }: RuleData, language: Language): string {
  const digest = given || undefined;
  const [, count = '', unit = ''] = /^(\d+)([mh])$/.exec(digest?.every ?? '') ?? [];
  const weekly = digest?.days === 'mon-fri';
  if (language === 'ko') {
    if (digest?.at !== undefined) return `${weekly ? '평일' : '매일'} ${digest.at}에 모아서`;
    if (digest !== undefined) return `${count}${unit === 'h' ? '시간' : '분'}마다 모아서`;
    return mostPerMinute === undefined ? '바로' : `바로, 1분에 최대 ${mostPerMinute}건`;
  }
  if (digest?.at !== undefined) return `in one message, ${weekly ? 'Monday to Friday' : 'every day'} at ${digest.at}`;
  if (digest !== undefined) return `in one message every ${count} ${unit === 'h' ? 'h' : 'min'}`;
  return mostPerMinute === undefined ? 'at once' : `at once, at most ${mostPerMinute} a minute`;
}
