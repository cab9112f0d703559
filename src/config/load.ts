/** Finds the configuration file, reads or runs it, and checks the result. */
import { existsSync } from 'node:fs';
import { dirname, extname, relative, resolve } from 'node:path';
import { ChangefeedError, messageOf } from '../kit/errors.js';
import { userFrame } from '../kit/user-frame.js';
import { variableIn } from '../kit/schema/env-variable.js';
import { whileCollecting, type CollectedProblem, type ConfigProblem, type Path } from '../kit/schema/problem.js';
import { readText } from './env-file.js';
import { evaluate, type Evaluated } from './evaluate.js';
import { configFromEnvironment, envValue, replaceVariables, withEnvironment, type Env } from './env.js';
import { DEEPEST, faultInJson, isDeeper, optionInJson, placeInJson } from './json-text.js';
import { loadKinds } from './kinds.js';
import { parseConfig, type ParseOptions } from './parse.js';
import { configError, type LocatedProblem, type Place } from './report.js';
import { isObject } from '../crm/record.js';
import { configSchema, type Config } from './schema.js';

/** Where a configuration is looked for. */
export interface LoadOptions {
  /** @defaultValue the working directory of the process */
  cwd?: string;
  /** @defaultValue the environment of the process */
  env?: Env;
  /** A configuration file, from `cwd`. @defaultValue CHANGEFEED_CONFIG, else `changefeed.config.*` in `cwd` */
  path?: string | undefined;
  /** What the import of `crm-changefeed` gives in a configuration in code. @defaultValue this package */
  library?: () => Promise<object>;
}

/** A configuration that was read and checked. */
export interface LoadedConfig {
  /** Checked, with its defaults. */
  config: Config;
  /** The file, or `the environment`. */
  source: string;
  /** Paths of all files it was read from, the configuration file first; empty if it comes from the environment alone. */
  files: readonly string[];
}

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs', '.json'];
export const CONFIG_FILES = EXTENSIONS.map((extension) => `changefeed.config${extension}`);
/** Forms that other tools have. Such a file beside none of ours would be ignored in silence. */
const OTHER_FILES = ['.cjs', '.cts', '.jsonc', '.json5', '.yaml', '.yml', '.toml'].map(
  (end) => `changefeed.config${end}`,
);

/**
 * Loads `path`, else `CHANGEFEED_CONFIG`, else `changefeed.config.{ts,mts,js,mjs,json}` in `cwd`, else the
 * environment alone.
 * @throws ChangefeedError CF_CONFIG_UNLOADABLE when a file is missing or cannot be evaluated, CF_CONFIG_INVALID when it
 *   has an option that is not allowed
 */
export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  return await loadWith(options);
}

/** @param rules what becomes of those that are missing or not valid */
export async function loadWith(
  { cwd = process.cwd(), env = process.env, path, library = ownLibrary }: LoadOptions,
  rules: Pick<ParseOptions, 'rulesBefore' | 'leaveOut'> = {},
): Promise<LoadedConfig> {
  const file = findFile({ cwd, named: path ?? envValue(env, 'CHANGEFEED_CONFIG') });
  if (file === undefined) return { config: configFromEnvironment(env), source: 'the environment', files: [] };
  const source = nameOf(file, cwd);
  const { raw: read, files: own, ...found } = await readFile(file, { cwd, env, library });
  const { raw, files: ofKinds, problems } = await loadKinds(read, file, library);
  if (problems.length > 0) throw configError(source, located(problems, found.locate));
  const files = [...own, ...ofKinds];
  const redisUrl = variableIn(env, 'REDIS_URL');
  const named = { folder: dirname(file), nameOf: (path: string) => nameOf(path, cwd) };
  const config = parseConfig(withEnvironment(raw, env), { source, redisUrl, ...named, ...found, ...rules });
  return { config, source, files: config.rules === null ? files : [...files, config.rules.path] };
}

/** The place of one is enough to find the others, which say their paths. */
function located([first, ...others]: readonly ConfigProblem[], locate: Read['locate']): LocatedProblem[] {
  return first === undefined ? [] : [{ place: locate?.(first.path), ...first }, ...others];
}

interface Read {
  raw: unknown;
  files: readonly string[];
  collected: readonly LocatedProblem[];
  /** Where an option stands. Only JSON shows it: code is evaluated, and its values have no places. */
  locate?: (path: Path) => Place;
}

/** The Redis of a configuration that is refused: it must be valid, or be given by `REDIS_URL`. Null: it is not known, or there is no file. */
export async function namedRedis({ cwd = process.cwd(), env = process.env, path, library = ownLibrary }: LoadOptions) {
  const file = findFile({ cwd, named: path ?? envValue(env, 'CHANGEFEED_CONFIG') });
  if (file === undefined) return null;
  const url = variableIn(env, 'REDIS_URL');
  const raw = await readFile(file, { cwd, env, library }).then(
    (read) => read.raw,
    () => (url === undefined ? null : {}),
  );
  const given = isObject(raw) ? configSchema.shape.redis.safeParse(raw['redis'] ?? {}) : null;
  if (given?.data === undefined) return null;
  const { cluster, ...redis } = given.data;
  return { file, redis: { ...redis, url: url ?? redis.url ?? (cluster && `redis+cluster://${cluster.join(',')}`) } };
}

type Reading = Required<Pick<LoadOptions, 'cwd' | 'env' | 'library'>>;

async function readFile(file: string, { cwd, env, library }: Reading): Promise<Read> {
  const source = nameOf(file, cwd);
  return extname(file) === '.json' ? readJson(file, source, env) : await runCode(file, { source, cwd }, library);
}

function findFile({ cwd, named }: { cwd: string; named: string | undefined }): string | undefined {
  if (named === undefined) {
    const existing = (names: readonly string[]): string | undefined =>
      names.map((name) => resolve(cwd, name)).find((file) => existsSync(file));
    const found = existing(CONFIG_FILES);
    const other = found === undefined ? existing(OTHER_FILES) : undefined;
    if (other === undefined) return found;
    throw unloadable(
      nameOf(other, cwd),
      `a configuration file ends in ${EXTENSIONS.join(', ')}. Write it in one of these forms`,
    );
  }
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

function nameOf(file: string, cwd: string): string {
  const name = relative(cwd, file);
  return name.startsWith('..') ? file : name;
}

function readJson(file: string, source: string, env: Env): Read {
  const text = readText(file, source);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser of the platform quotes the text around the error, which may be a token.
    const fault = faultInJson(text);
    if (fault === undefined) throw unloadable(source, 'it cannot be read as JSON. Correct the file');
    throw syntaxError(`it cannot be read as JSON: ${fault.reason}`, placeInJson(source, text, fault.offset));
  }
  if (isDeeper(json, DEEPEST)) throw unloadable(source, `it is nested deeper than ${DEEPEST} levels. Correct the file`);
  const { value, problems } = replaceVariables(json, env);
  const locate = (path: Path): Place => placeInJson(source, text, optionInJson(text, path));
  return {
    raw: value,
    files: [file],
    collected: problems,
    locate,
  };
}

function syntaxError(problem: string, place: Place, cause?: unknown): ChangefeedError {
  const found = { path: [], problem, suggestion: 'Correct the syntax there.', place };
  return configError(place.file, [found], { code: 'CF_CONFIG_UNLOADABLE', cause });
}

interface Named {
  source: string;
  cwd: string;
}

async function runCode(file: string, named: Named, library: () => Promise<object>): Promise<Read> {
  let evaluated: { value: Evaluated; problems: readonly CollectedProblem[] };
  try {
    const own = await library();
    evaluated = await whileCollecting(() => evaluate(file, own));
  } catch (error) {
    throw failedRun(error, named);
  }
  const { module, files } = evaluated.value;
  if (typeof module === 'object' && module !== null && 'default' in module && module.default !== undefined) {
    return { raw: module.default, files, collected: evaluated.problems.map((one) => placed(one, named)) };
  }
  throw unloadable(named.source, 'it has no default export. Write: export default defineConfig({ … })');
}

function failedRun(error: unknown, { source, cwd }: Named): ChangefeedError {
  // The loader (jiti) puts reason and place in its message. The file may be one that the configuration imports.
  const [, reason, file, line, column] = /^ParseError: (.*?)\.?\s*\n\s*(.+):(\d+):(\d+)$/.exec(messageOf(error)) ?? [];
  if (reason !== undefined && file !== undefined) {
    const place = { file: nameOf(file, cwd), line: Number(line), column: Number(column) + 1 };
    return syntaxError(`it has a syntax error: ${reason}`, place, error);
  }
  const frame = userFrame(error instanceof Error ? (error.stack ?? '') : '');
  const where = frame === undefined ? source : `${nameOf(frame.file, cwd)}:${frame.line}`;
  const [first = ''] = messageOf(error).split('\n');
  return unloadable(where, `running it failed: ${first.replace(/\.$/, '')}. Correct the file`, error);
}

/** At the call that has the problem. */
function placed({ stack, ...problem }: CollectedProblem, { cwd }: Named): LocatedProblem {
  const frame = userFrame(stack);
  // Its column is that of the compiled code.
  return { ...problem, place: frame && { line: frame.line, file: nameOf(frame.file, cwd) } };
}

/** The compiled index for the compiled program, the source index when running from source. */
function ownLibrary(): Promise<object> {
  const index = new URL(`../index${extname(import.meta.url)}`, import.meta.url).href;
  return import(index) as Promise<object>;
}

function unloadable(source: string, problem: string, cause?: unknown): ChangefeedError {
  return new ChangefeedError('CF_CONFIG_UNLOADABLE', { message: `${source}: ${problem}.`, source, cause });
}
