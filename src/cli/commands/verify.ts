/** Compares a copy with the lists, and prints a line for each list. */
import { resolve } from 'node:path';
import { verify as action } from '../../actions/subscriptions.js';
import type { Verified, VerifiedList } from '../../delivery/verify/verified.js';
import type { Formats } from '../../words/format.js';
import { wordsFor, type Words } from '../../words/words.js';
import { entryOf } from '../../actions/entry.js';
import { answer, formatsOf, languageOf } from '../answers.js';
import { asText, defineFeedCommand, flag, option } from '../command.js';
import { termOf } from '../terms.js';
import { cut, fittedTable, printable, type Colours } from '../text.js';

export const verify = defineFeedCommand({
  input: {
    subscription: termOf(action, 'subscription'),
    copy: option(
      'file',
      'its copy, a .csv or .ndjson with list, id, sequence (default: the tables of postgres)',
      asText,
    ),
    workspace: termOf(action, 'workspace'),
    repair: termOf(action, 'repair'),
    json: flag('print it as JSON'),
  },
  async run({ subscription, copy, json = false, repair = false, workspace }, { feed, config, decided }, io) {
    const { t, language } = { ...wordsFor(languageOf(config, io.env)), language: languageOf(config, io.env) };
    const screen = io.interactive && !json ? io.live() : undefined;
    const numbers = new Intl.NumberFormat(language);
    const onProgress = (count: number): void => screen?.show([t('verify.compared', { count: numbers.format(count) })]);
    const call = { workspace, repair, signal: io.signal, onProgress };
    const found = await feed.verify(subscription, copy && resolve(io.cwd, copy), call).finally(() => screen?.end());
    await decided(entryOf(action, { subscription }, found));
    const page = { colours: io.colours.out, columns: io.columns, formats: formatsOf(config, io.env, found.at) };
    answer(io, json, found, verifiedText(found, page));
    return found.wrong > 0 && found.repaired === null ? 1 : 0;
  },
});

interface Page {
  colours: Colours;
  columns: number | undefined;
  formats: Formats;
}

const NAMED = ['dead', 'dropped', 'held', 'discarded', 'unreadable', 'erased', 'unjudged'] as const;
const COMPARED = ['equal', 'inFlight', 'behind', 'missing', 'extra'] as const;
const TITLE_PLACES = 40;

export function verifiedText(found: Verified, { colours, columns = Infinity, formats }: Page): string {
  const { subscription: name, copy, lists, examples, wrong, ms, repaired } = found;
  const { t } = wordsFor(formats.language);
  const all = lists.reduce((sum, one) => sum + recordsIn(one), 0);
  const facts = {
    ...{ name, copy: t(`verify.copy.${copy}`), time: formats.duration(ms), count: formats.number(wrong) },
    records: t('verify.records', { count: formats.number(all) }),
  };
  const rowsIn = (paint: Colours): string[][] => lists.map((one) => cells(one, lists, { paint, t, formats }));
  const command = `changefeed verify ${name}${copy === 'file' ? ' --copy …' : ''} --repair`;
  const snapshot = `changefeed snapshot ${name}`;
  return [
    wrong === 0 ? colours.green(t('verify.right', facts)) : colours.red(t('verify.wrong', facts)),
    fittedTable(t('verify.head').split('|'), rowsIn, { colours, columns }),
    ...lists.flatMap((one) => doubtsOf(one, t)),
    ...(examples.length === 0 ? [] : [t('verify.examples'), ...examples.map((one) => exampleText(one, t))]),
    ...(repaired === null ? [] : [t('verify.repaired', { count: formats.number(repaired) })]),
    ...(wrong === 0 || repaired !== null ? [] : [t('verify.repair', { command, snapshot })]),
  ].join('\n');
}

const recordsIn = (one: VerifiedList): number => [...COMPARED, ...NAMED].reduce((sum, name) => sum + one[name], 0);

function cells(
  one: VerifiedList,
  lists: readonly VerifiedList[],
  { paint, t, formats }: { paint: Colours; t: Words['t']; formats: Formats },
): string[] {
  const isOne = lists.every(({ workspace }) => workspace === one.workspace);
  const named = NAMED.filter((name) => one[name] > 0).map((name) =>
    t(`verify.${name}`, { count: formats.number(one[name]) }),
  );
  const number = (name: (typeof COMPARED)[number]): string => {
    const text = formats.number(one[name]);
    if (one[name] === 0 || name === 'equal') return text;
    return name === 'inFlight' ? paint.yellow(text) : paint.red(text);
  };
  return [
    `${isOne ? '' : `${printable(one.workspace)} `}${printable(one.list)}`,
    ...COMPARED.map(number),
    named.length === 0 ? '—' : named.join(', '),
  ];
}

/** Only of lists with records that are not judged, and of those that cannot be compared at all. */
function doubtsOf({ list, because, unjudged }: VerifiedList, t: Words['t']): string[] {
  const own = ['off', 'rows', 'waiting', 'receipts'] as const;
  const [special] = own.filter((one) => because.includes(one));
  if (special !== undefined) return [t(`verify.doubt.${special}`, { list: printable(list) })];
  if (unjudged === 0) return [];
  return [t('verify.doubt', { list: printable(list), options: because.join(', ') })];
}

function exampleText({ list, id, title, found, copy, feed }: Verified['examples'][number], t: Words['t']): string {
  const what = t(`verify.example.${found}`, { copy: copy ?? '—', feed: feed ?? '—' });
  const name = title === null ? '' : `  ${printable(cut(title, TITLE_PLACES))}`;
  return `  ${printable(list)}  ${printable(id)}${name}  ${what}`;
}
