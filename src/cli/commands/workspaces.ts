/** Workspaces that come and go while the service runs. A token is read from a file or standard input: arguments are seen by everyone on the machine. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { entryOf } from '../../actions/entry.js';
import { putWorkspace, rotateWorkspace, sentenceOf } from '../../actions/workspaces.js';
import type { WorkspaceInput } from '../../config/schema.js';
import { isoTime, systemClock } from '../../kit/clock.js';
import { messageOf, usage } from '../../kit/errors.js';
import { wordsFor } from '../../words/words.js';
import { commandsNamed } from '../action-command.js';
import { answer, formatsOf } from '../answers.js';
import { asText, defineFeedCommand, flag, option } from '../command.js';
import type { Io } from '../io.js';
import { termOf } from '../terms.js';

const FROM = 'a file; "-" is standard input';

const put = defineFeedCommand({
  input: {
    name: termOf(putWorkspace, 'name'),
    file: option('file', `its options as JSON, as in the configuration, from ${FROM} (default: -)`, asText),
    json: flag('print it as JSON'),
  },
  async run({ name, file = '-', json = false }, { feed, config, decided }, io) {
    const options = objectIn(await given(file, io), file);
    const done = await feed.workspaces.put(name, options as unknown as WorkspaceInput);
    await decided(entryOf(putWorkspace, { name }, done));
    const formats = formatsOf(config, io.env, isoTime(systemClock.now()));
    answer(io, json, done, sentenceOf(done, { ...wordsFor(formats.language), ...formats }));
    return done.problem === null ? 0 : 1;
  },
});

const rotate = defineFeedCommand({
  input: {
    name: termOf(rotateWorkspace, 'name'),
    file: option('file', `the new token alone, from ${FROM} (default: it is asked for, or -)`, asText),
    json: flag('print it as JSON'),
  },
  async run({ name, file, json = false }, { feed, config, decided }, io) {
    const typed = file === undefined ? await io.ask?.(`New token of ${name}: `, { hidden: true }) : undefined;
    const token = (typed ?? (await given(file ?? '-', io))).trim();
    const done = await feed.workspaces.rotate(name, token);
    await decided(entryOf(rotateWorkspace, { name }, done));
    const formats = formatsOf(config, io.env, isoTime(systemClock.now()));
    answer(io, json, done, sentenceOf(done, { ...wordsFor(formats.language), ...formats }));
    return 0;
  },
});

export const workspaces = commandsNamed('workspaces', {
  put: [putWorkspace.about[0], put],
  rotate: [rotateWorkspace.about[0], rotate],
});

async function given(file: string, io: Io): Promise<string> {
  if (file === '-') return await io.readInput();
  return await readFile(resolve(io.cwd, file), 'utf8').catch((error: unknown) => {
    throw usage(`workspaces: ${file} cannot be read (${messageOf(error)}).`);
  });
}

/** What is wrong with its text is not quoted: the token is in it. */
function objectIn(text: string, file: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Said below.
  }
  throw usage(
    `workspaces put: ${file === '-' ? 'standard input' : file} is no JSON object with the options of a workspace.`,
  );
}
