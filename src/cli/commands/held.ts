/** What waits until a person decides about a list, and the decisions. */
import * as actions from '../../actions/lists.js';
import { heldText } from '../../ops/watch/problems.js';
import type { ListName } from '../../crm/lists/lists.js';
import { wordsFor } from '../../words/words.js';
import { formatsOf, isConfirmed, say } from '../answers.js';
import { listArgument, listsNamed, workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, restArguments, type Known } from '../command.js';
import { count, cut, printable } from '../text.js';

const PLACES = 40;

export const held = defineFeedCommand({
  input: { workspace: workspaceOption('only this workspace'), json: flag('print it as JSON') },
  async run({ workspace, json = false }, { feed, config }, io) {
    const all = await feed.lists.allHeld(workspace);
    const formats = formatsOf(config, io.env, all[0]?.at ?? '');
    const { t, word } = wordsFor(formats.language);
    if (json) io.out(JSON.stringify(all));
    else if (all.length === 0) io.out(t('status.nothingHeld'));
    for (const one of json ? [] : all) {
      const place = `${one.list} --workspace ${one.workspace}`;
      const names = one.examples.map(({ id, title }) => printable(cut(title ?? id, PLACES)));
      const list = formats.language === 'en' ? one.list : word('list', one.list);
      const said = [
        `${one.workspace} ${list}: ${heldText(one, formats)}`,
        ...(names.length === 0 ? [] : [t('status.examples', { names: names.join(', ') })]),
        t('status.since', { when: formats.dateTime(one.since) }),
        t('status.decide', { place }),
      ];
      say(io, said.join(' '));
    }
  },
});

type Held = readonly { what: 'removals' | 'creations'; count: number }[];

function partsOf(all: Held, how = ''): string {
  return all.map((one) => count(one.count, how + (one.what === 'removals' ? 'removal' : 'new record'))).join(' and ');
}

const total = (all: Held): number => all.reduce((sum, one) => sum + one.count, 0);
const workspace = workspaceOption('the workspace, if there are several');

export const accept = defineFeedCommand({
  input: { list: listArgument('the list'), workspace },
  async run({ list, workspace }, { feed, noted }, io) {
    const accepted = await feed.lists.accept(list, workspace);
    await noted(actions.accept, { list, workspace }, { count: total(accepted) });
    const outcome =
      accepted.length === 0
        ? 'nothing is held.'
        : `${partsOf(accepted)} accepted; the next complete sweep that still finds them emits them.`;
    say(io, `List "${list}": ${outcome}`);
  },
});

export const discard = defineFeedCommand({
  input: { list: listArgument('the list'), workspace, yes: flag('do not ask') },
  async run({ list, workspace, yes = false }, { feed, noted }, io) {
    const parts = partsOf(await feed.lists.held(list, workspace), 'held ');
    const what = `This forgets ${parts} of the list "${list}": no event reports them`;
    if (parts !== '' && !(await isConfirmed({ command: 'discard', what, yes }, io))) return 1;
    const discarded = await feed.lists.discard(list, workspace);
    await noted(actions.discard, { list, workspace }, { count: total(discarded) });
    say(io, `List "${list}": ${discarded.length === 0 ? 'nothing is held.' : `${parts} discarded.`}`);
    return 0;
  },
});

/** Changes since the last sweep become no events, which cannot be undone: so a person confirms it. */
export const resync = defineFeedCommand({
  input: {
    lists: {
      ...restArguments('the lists, or "all"', asText, '<…>'),
      resolve: (names: ListName[], known: Known) =>
        names.flatMap((name) => (name === 'all' ? [name] : listsNamed([name], known))),
    },
    workspace,
    dryRun: flag('only say what would be done'),
    yes: flag('do not ask'),
  },
  async run({ lists, workspace, dryRun = false, yes = false }, { feed, noted }, io) {
    const names = lists.includes('all') ? feed.lists.names(workspace) : lists;
    const what = `This drops the baseline of ${names.join(', ')}: changes since the last sweep will make no events`;
    if (dryRun) {
      say(io, `${what}. Nothing was changed.`);
      return 0;
    }
    if (!(await isConfirmed({ command: 'resync', what, yes }, io))) return 1;
    for (const list of names) {
      await feed.lists.resync(list, workspace);
      await noted(actions.resync, { list, workspace }, { count: 1 });
      say(io, `List "${list}": the baseline is dropped; the next sweep makes no events. Records and sequences stay.`);
    }
    return 0;
  },
});
