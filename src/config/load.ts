/** Finds the configuration file, reads or runs it, and checks the result. */
import { existsSync, readFileSync } from 'node:fs';
import { extname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ChangefeedError, messageOf } from '../errors.js';
import { collectProblems, type CollectedProblem } from '../schema-kit/collected-problems.js';
import { pathIn } from '../schema-kit/explain.js';
import { codeFrame } from './code-frame.js';
import { evaluate, type Evaluated } from './evaluate.js';
import { configFromEnvironment, envValue, replaceVariables, type Env } from './env.js';
import { parseConfig, type Place, type Problem } from './parse.js';
import type { Config } from './schema.js';
import { withSyntax, type Position, type Syntax } from './syntax.js';

export interface LoadOptions {
  /** @defaultValue the working directory of the process */
  cwd?: string;
  /** @defaultValue the environment of the process */
  env?: Env;
  /** A configuration file, from `cwd`. @defaultValue CHANGEFEED_CONFIG, else `changefeed.config.*` in `cwd` */
  path?: string | undefined;
  /** What the import of `crm-changefeed` gives in a configuration in code. @defaultValue this package */
  library?: () => Promise<object>;
  /** The width of the terminal that shows an error; the lines of the configuration in it are cut to it. @defaultValue 100 columns of each line */
  columns?: number | undefined;
}

export interface LoadedConfig {
  config: Config;
  /** The file, or `the environment`. */
  source: string;
  /** Paths of all files it was read from, the configuration file first; empty if it comes from the environment alone. */
  files: readonly string[];
}

/** The folder of the compiled program, or of its source: what is in it is not a file of the user. */
const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs', '.json'];
/** The names that are searched for, in this order. */
export const CONFIG_FILES = EXTENSIONS.map((extension) => `changefeed.config${extension}`);

/**
 * Loads `path`, else `CHANGEFEED_CONFIG`, else `changefeed.config.{ts,mts,js,mjs,json}` in `cwd`, else the
 * environment alone.
 * @throws ChangefeedError CF_CONFIG_UNLOADABLE when a file is missing or cannot be evaluated, CF_CONFIG_INVALID when it
 *   has an option that is not allowed
 */
export async function loadConfig({
  cwd = process.cwd(),
  env = process.env,
  path,
  library = ownLibrary,
  columns,
}: LoadOptions = {}): Promise<LoadedConfig> {
  const file = findFile({ cwd, named: path ?? envValue(env, 'CHANGEFEED_CONFIG') });
  if (file === undefined) return { config: configFromEnvironment(env), source: 'the environment', files: [] };
  const source = nameOf(file, cwd);
  const view = { cwd, columns };
  const read =
    extname(file) === '.json' ? readJson({ file, source, env, view }) : await runCode({ file, source, view, library });
  const locate = (option: readonly PropertyKey[]): Place | undefined =>
    placeIn(file, view, (syntax) => syntax.optionAt(option));
  const { raw, files, collected } = read;
  const config = parseConfig(raw, { source, redisUrl: envValue(env, 'REDIS_URL'), locate, collected });
  return { config, source, files };
}

/** How a place in a file is shown: from which directory, and how wide. */
interface View {
  cwd: string;
  columns: number | undefined;
}

interface Read {
  raw: unknown;
  files: readonly string[];
  /** Problems that were found while it was read. */
  collected: readonly Problem[];
}

function findFile({ cwd, named }: { cwd: string; named: string | undefined }): string | undefined {
  if (named === undefined) return CONFIG_FILES.map((name) => resolve(cwd, name)).find((file) => existsSync(file));
  const file = resolve(cwd, named);
  if (!existsSync(file))
    throw unloadable(
      named,
      'there is no such file. Correct the path, or remove it to use changefeed.config.* or the environment',
    );
  if (!EXTENSIONS.includes(extname(file)))
    throw unloadable(named, `a configuration file ends in ${EXTENSIONS.join(', ')}`);
  return file;
}

/** Relative to the working directory, for messages. */
function nameOf(file: string, cwd: string): string {
  const name = relative(cwd, file);
  return name.startsWith('..') ? file : name;
}

function readJson({ file, source, env, view }: { file: string; source: string; env: Env; view: View }): Read {
  const text = readText(file, source);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser quotes the text around the error, which may be a token: the message has only the position.
    throw syntaxError(file, source);
  }
  const { value, problems } = replaceVariables(json, env);
  const collected = problems.map((sentence) => ({
    sentence,
    place: placeIn(file, view, (syntax) => syntax.optionAt(pathIn(sentence))),
  }));
  return { raw: value, files: [file], collected };
}

function readText(file: string, source: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw unloadable(source, `it cannot be read (${messageOf(cause)}). Allow this user to read it`, cause);
  }
}

/** Where something stands in a file; undefined when the file cannot be read any more, or does not show it. */
function placeIn(
  file: string,
  { cwd, columns }: View,
  find: (syntax: Syntax) => Position | undefined,
): Place | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  return withSyntax({ text, file }, (parsed) => {
    const at = parsed.outcome === 'parsed' ? find(parsed.syntax) : undefined;
    if (at === undefined || parsed.outcome !== 'parsed') return undefined;
    return { ...at, file: nameOf(file, cwd), frame: codeFrame(text, at, { secrets: parsed.syntax.secrets, columns }) };
  });
}

/** The error of a file that is not valid code or JSON. Without its text: what is a secret there is not known. */
function syntaxError(file: string, source: string, cause?: unknown): ChangefeedError {
  const kind = extname(file) === '.json' ? 'it cannot be read as JSON' : 'it has a syntax error';
  const parsed = withSyntax({ text: readText(file, source), file }, (found) => found);
  if (parsed?.outcome !== 'invalid') return unloadable(source, `${kind}. Correct the file`, cause);
  const { line, column } = parsed.at;
  return unloadable(`${source}:${line}:${column}`, `${kind}. Correct the syntax there`, cause);
}

interface Code {
  file: string;
  source: string;
  view: View;
  library: () => Promise<object>;
}

async function runCode({ file, source, view, library }: Code): Promise<Read> {
  let evaluated: { value: Evaluated; problems: readonly CollectedProblem[] };
  try {
    const own = await library();
    evaluated = await collectProblems(() => evaluate(file, own));
  } catch (error) {
    const broken = withSyntax({ text: readText(file, source), file }, (found) => found.outcome) === 'invalid';
    if (broken) throw syntaxError(file, source, error);
    const place = siteIn(error instanceof Error ? (error.stack ?? '') : '');
    const where = place === undefined ? source : `${nameOf(place.file, view.cwd)}:${place.line}`;
    throw unloadable(where, `running it failed: ${firstLine(error)}. Correct the file`, error);
  }
  const { module, files } = evaluated.value;
  if (typeof module === 'object' && module !== null && 'default' in module && module.default !== undefined) {
    return { raw: module.default, files, collected: evaluated.problems.map((one) => placed(one, view)) };
  }
  throw unloadable(source, 'it has no default export. Write: export default defineConfig({ … })');
}

function placed({ sentence, name, stack }: CollectedProblem, view: View): Problem {
  const site = siteIn(stack);
  if (site === undefined) return { sentence };
  const call = { name, line: site.line };
  return { sentence, place: placeIn(site.file, view, (syntax) => syntax.argumentAt(call, pathIn(sentence))) };
}

/** The first place of a stack that is in a file of the user: neither in this package nor in another one. */
function siteIn(stack: string): { file: string; line: number } | undefined {
  for (const [, address = '', line = ''] of stack.matchAll(
    /(?:at |\()((?:file:|\/|[A-Za-z]:\\)[^()\n]*?):(\d+):\d+\)?$/gm,
  )) {
    const file = address.startsWith('file:') ? fileURLToPath(address) : address;
    if (!/[\\/]node_modules[\\/]/.test(file) && !file.startsWith(PACKAGE)) return { file, line: Number(line) };
  }
  return undefined;
}

function firstLine(error: unknown): string {
  return (messageOf(error).split('\n')[0] ?? '').replace(/\.$/, '');
}

/** The compiled index for the compiled program, the source index when running from source. */
function ownLibrary(): Promise<object> {
  const index = new URL(`../index${extname(import.meta.url)}`, import.meta.url).href;
  return import(index) as Promise<object>;
}

function unloadable(source: string, problem: string, cause?: unknown): ChangefeedError {
  return new ChangefeedError('CF_CONFIG_UNLOADABLE', { message: `${source}: ${problem}.`, source, cause });
}
