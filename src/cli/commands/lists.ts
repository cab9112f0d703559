/** Commands about one list: what was seen of it, and what a person decides. */
import type { Changefeed, FieldRules, ListSchema, RecordStory, RulesPreview } from '../../app/changefeed.js';
import type { ListName } from '../../events/lists.js';
import { OBJECT_OF } from '../../events/lists.js';
import { openService } from '../../app/process.js';
import type { GlobalOptions, Io } from '../io.js';
import type { Colours } from '../colours.js';
import { typesText } from '../schema-types.js';
import { table } from '../table.js';

interface ListOptions extends GlobalOptions {
  workspace?: string;
  json?: boolean;
}

async function withFeed<T>(io: Io, { config: path }: GlobalOptions, use: (feed: Changefeed) => Promise<T>): Promise<T> {
  const { feed } = await openService(io, { path, quiet: true });
  try {
    return await use(feed);
  } finally {
    await feed.stop();
  }
}

/** `changefeed explain <list> <id>`: why this record did or did not yield events. */
export async function explain(options: ListOptions & { args: [ListName, string] }, io: Io): Promise<number> {
  // Commander hands variadic and single arguments over alike: one flat list.
  const [list, id] = options.args;
  const story = await withFeed(io, options, (feed) => feed.lists.explain(list, id, options.workspace));
  io.out(options.json === true ? JSON.stringify(story) : storyText(story));
  return story.known ? 0 : 1;
}

/** `changefeed schema [list]`: the fields seen. */
export async function schema(options: ListOptions & { args: ListName[]; types?: boolean }, io: Io): Promise<number> {
  const lists = options.args.length > 0 ? options.args : (Object.keys(OBJECT_OF) as ListName[]);
  const seen = await withFeed(io, options, (feed) =>
    Promise.all(lists.map(async (list) => [list, await feed.lists.schema(list, options.workspace)] as const)),
  );
  if (options.json === true) io.out(JSON.stringify(Object.fromEntries(seen)));
  else
    io.out(
      seen
        .map(([list, one]) => (options.types === true ? typesText(list, one) : schemaText(list, one, io.colours.out)))
        .join('\n\n'),
    );
  return 0;
}

/** `changefeed rules test <list>`: what changed rules would have made of the events in the log. */
export async function rulesTest(
  options: ListOptions & FieldRules & { args: ['test', ListName] },
  io: Io,
): Promise<number> {
  const { args, ignore = [], only, refreshed = [], workspace } = options;
  const rules = { ignore, only, refreshed };
  const preview = await withFeed(io, options, (feed) => feed.lists.previewRules(args[1], rules, { workspace }));
  io.out(options.json === true ? JSON.stringify(preview) : previewText(args[1], preview, io.colours.out));
  return 0;
}

/** `changefeed accept-removals <list>`: lets a held mass removal through with the next sweep. */
export async function acceptRemovals(options: ListOptions & { args: [ListName] }, io: Io): Promise<number> {
  const [list] = options.args;
  const count = await withFeed(io, options, (feed) => feed.lists.acceptRemovals(list, options.workspace));
  io.out(
    count === 0
      ? `List "${list}": no removals are held.`
      : `List "${list}": ${count} removals accepted; the next complete sweep that still misses them emits them.`,
  );
  return 0;
}

/** `changefeed accept-creations <list>`: lets held new records through with the next sweep. */
export async function acceptCreations(options: ListOptions & { args: [ListName] }, io: Io): Promise<number> {
  const [list] = options.args;
  const count = await withFeed(io, options, (feed) => feed.lists.acceptCreations(list, options.workspace));
  io.out(
    count === 0
      ? `List "${list}": no creations are held.`
      : `List "${list}": ${count} creations accepted; the next complete sweep emits them.`,
  );
  return 0;
}

/** `changefeed resync <lists...>`: forgets their baselines. */
export async function resync(options: ListOptions & { args: ListName[] }, io: Io): Promise<number> {
  await withFeed(io, options, async (feed) => {
    for (const list of options.args) {
      await feed.lists.resync(list, options.workspace);
      io.out(`List "${list}": the baseline is forgotten; the next sweep is a quiet one. Records and sequences stay.`);
    }
  });
  return 0;
}

function storyText(story: RecordStory): string {
  if (!story.known) return `List "${story.list}": no sweep has shown a record "${story.id}".`;
  const { missing, gone, suspect, waits, page, lastSweep } = story;
  const states = [
    page === null ? 'on no page of the last complete sweep' : `on page ${page} of the last complete sweep`,
    missing === null ? '' : `missing for ${missing.sweeps} complete sweeps`,
    gone === null ? '' : gone.dropped === true ? 'of another source, dropped' : 'removed',
    suspect === null ? '' : 'shown as it used to be: the next sweep decides',
    waits ? "waits for what its list's schema turns out to be" : '',
  ].filter((text) => text !== '');
  const leftOut = story.leftOut.map(({ field, rule }) => `  ${field}  (${rule})`);
  const trail = story.trail.map(decisionLine);
  return [
    `${story.list} ${story.id}: ${story.sequence} ${story.sequence === 1 ? 'event' : 'events'} so far, ${states.join('; ')}.`,
    `Kept: ${story.kept}. Last complete sweep: ${lastSweep === null ? 'none' : lastSweep.completedAt}.`,
    `Compared: ${story.compared.join(', ') || 'nothing'}`,
    ...(leftOut.length > 0 ? ['Left out, and by which rule:', ...leftOut] : []),
    ...(trail.length > 0
      ? ['Last decisions, the oldest first:', ...trail]
      : ['No decision yet: it has only ever been the same.']),
  ].join('\n');
}

function decisionLine({ at, sweep, what, ...rest }: RecordStory['trail'][number]): string {
  const details = Object.entries(rest).map(
    ([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : String(value)}`,
  );
  return `  ${at}  ${[what, ...details, `sweep ${sweep}`].join('  ')}`;
}

function schemaText(list: ListName, { rows, fields }: ListSchema, colours: Colours): string {
  const lines = fields.map(({ field, share, forms }) => [
    field,
    `${Math.round(share * 1_000) / 10} %`,
    forms.map(({ form, rows: count }) => `${form} ×${count}`).join(', '),
  ]);
  return `${list}: ${rows} rows\n${table(['field', 'rows', 'forms'], lines, colours)}`;
}

function previewText(list: ListName, { looked, counts, events }: RulesPreview, colours: Colours): string {
  const lines = events.map(({ type, subject, outcome, before, after, rule }) => [
    type,
    subject,
    outcome,
    `${before.join(', ')} → ${after.join(', ') || 'nothing'}`,
    rule ?? '',
  ]);
  const head = `List "${list}": of ${looked} events in the log, ${counts.same} would be the same, ${counts.different} different, ${counts.muted} muted.`;
  return lines.length === 0
    ? head
    : `${head}\n${table(['type', 'record', 'outcome', 'fields', 'rule'], lines, colours)}`;
}
