import { untilAborted } from '../../kit/clock.js';
import { PROFILES } from '../../../sandbox/faults/profiles.js';
import { createSandbox } from '../../../sandbox/sandbox.js';
import { usage } from '../../kit/errors.js';
import { duration, dayOrTime, port, positiveNumber, rateLimit, recordCount, wholeNumber } from '../arguments.js';
import { commandsNamed } from '../action-command.js';
import {
  argument,
  asText,
  defineCommand,
  option,
  optionWithDefault,
  repeatedOption,
  restArguments,
} from '../command.js';
import { languageOfTerminal } from '../answers.js';
import { wordsFor } from '../../words/words.js';
import { textOfValue } from '../../events/describe.js';
import { printable, table } from '../text.js';

/** The synthetic workspace is kept in memory. */
export const MOST_RECORDS = 1_000_000;
const size = wholeNumber({ most: MOST_RECORDS });

const serve = defineCommand({
  input: {
    port: optionWithDefault(option('number', 'port to listen on; 0 for any', port), 4010),
    host: optionWithDefault(option('host', 'address to listen on', asText), '127.0.0.1'),
    token: optionWithDefault(option('token', 'the bearer token that opens it', asText), 'sandbox'),
    seed: optionWithDefault(option('number', 'selects the workspace', wholeNumber()), 1),
    start: option('time', 'the day on which its records end (UTC; default: today)', dayOrTime),
    people: option('number', 'people; lists without their own option follow (default: 1000)', size),
    organizations: option('number', 'organizations', size),
    memos: option('number', 'memos', size),
    todos: option('number', 'todos', size),
    history: option('number', 'deal history entries', size),
    activity: option('number', 'people activity entries', size),
    list: repeatedOption(
      'name=number',
      'a further list: deal=500 serves v2/deal with the array dealList; repeatable',
      recordCount({ most: MOST_RECORDS }),
    ),
    rate: optionWithDefault(option('number', 'changes per second; 0 for none', positiveNumber), 1),
    limit: option('requests/duration', 'rate limit, or "none" (default: 100/10s)', rateLimit),
    latency: option('duration', 'added to every answer (default: none)', duration),
    records: option('number', 'all lists together, in the default shares', wholeNumber({ most: 10_000_000 })),
    profile: option('name', 'how it behaves; "list" prints the profiles (default: calm)', asText),
    control: option('port', 'a control API on this port, to switch faults while it runs', port),
    controlToken: option('token', 'the bearer token of the control API (default: control)', asText),
    journal: option('file', 'write every mutation as NDJSON', asText),
  },
  async run({ config: _config, start, list, limit, latency, control, controlToken, ...world }, io) {
    if (world.profile === 'list') {
      const rows = PROFILES.map(({ name, sound, does }) => [name, sound ? 'sound' : 'unsound', does]);
      io.out(table(['profile', '', 'what it does'], rows, io.colours.out, io.columns));
      return 0;
    }
    const served = createSandbox({
      ...world,
      ...(start !== undefined && { start }),
      ...(list && { lists: countsByName(list) }),
      ...(limit !== undefined && { limit }),
      ...(latency !== undefined && { latencyMs: latency }),
      ...(control !== undefined && { control: { port: control, ...(controlToken && { token: controlToken }) } }),
    });
    try {
      const { url, token, control: controlApi } = await startOrExplain(served.start(), world.port);
      const { t } = wordsFor(languageOfTerminal(io.env));
      io.out(t('sandbox.listens', { url, token }));
      const command = `CHANGEFEED_BASE_URL=${url} CHANGEFEED_TOKEN=${token} changefeed sweep`;
      io.err(t('sandbox.try', { command }));
      if (controlApi !== null) io.err(`Control API: ${controlApi.url}  token ${controlApi.token}`);
      await untilAborted(io.signal);
    } finally {
      await served.stop();
    }
    return 0;
  },
});

const CONTROL_PORT = 4011;

/** Asks a running sandbox for one chosen edit. */
const set = defineCommand({
  input: {
    list: argument('the name of a list', asText),
    id: argument('the id of a record', asText),
    values: restArguments('field=value; without a value the field is emptied', pair, '<…>'),
    by: option('name', 'who edits (default: who is in charge of the record)', asText),
    control: option('port', `the port of its control API (default: ${CONTROL_PORT})`, port),
    controlToken: option('token', 'the bearer token of the control API (default: control)', asText),
  },
  async run({ list, id, values, by, control = CONTROL_PORT, controlToken = 'control' }, io) {
    const path = [list, id].map(encodeURIComponent).join('/');
    const answer = await fetch(`http://127.0.0.1:${control}/records/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ values: Object.fromEntries(values), by }),
      signal: io.signal,
    }).catch((cause: unknown) => {
      const message = `No sandbox listens for control on port ${control}. Start it with --control ${control}, or name the port with --control.`;
      throw usage(message, cause);
    });
    const found = (await answer.json()) as Record<string, unknown> & { error?: string };
    if (!answer.ok) throw usage(found.error ?? `The sandbox answered ${answer.status}.`);
    const shown = values.map(([field]) => `${field}: ${textOfValue(found[field]) ?? '—'}`);
    io.out([`${list} ${id}`, ...shown].map(printable).join('  '));
    return 0;
  },
});

export const sandbox = commandsNamed('sandbox', {
  '': ['', serve],
  set: ['make one chosen edit in a running sandbox', set],
});

function pair(text: string, name: string): [field: string, value: string] {
  const [, field, value] = /^([^=]+)=(.*)$/su.exec(text) ?? [];
  if (field !== undefined && value !== undefined) return [field.trim(), value];
  throw usage(`${name}: found "${text}"; allowed: field=value, such as 등급=A.`);
}

function countsByName(lists: readonly (readonly [name: string, count: number])[]): Record<string, number> {
  const names = lists.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw usage(`--list: "${twice}" is given twice; name each list once.`);
  return Object.fromEntries(lists);
}

async function startOrExplain<T>(starting: Promise<T>, port: number): Promise<T> {
  try {
    return await starting;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'EADDRINUSE')
      throw usage(`--port: ${port} is taken by another program. Use a free port, or 0 for any.`, cause);
    if (code === 'EACCES') throw usage(`--port: this user may not listen on ${port}. Use a port above 1023.`, cause);
    if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
      throw usage('--host: this machine has no such address. Use one of its own.', cause);
    throw cause;
  }
}
