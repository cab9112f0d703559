/** Finds the configuration file, reads or runs it, and checks the result. */
import { existsSync, readFileSync } from 'node:fs';
import { extname, relative, resolve } from 'node:path';
import { ChangefeedError, messageOf } from '../errors.js';
import { evaluate, type Evaluated } from './evaluate.js';
import { configFromEnvironment, envValue, replaceVariables, type Env } from './env.js';
import { invalidConfig, parseConfig } from './parse.js';
import type { Config } from './schema.js';

export interface LoadOptions {
  cwd: string;
  env: Env;
  /** A configuration file, from `cwd`. @defaultValue CHANGEFEED_CONFIG, else `changefeed.config.*` in `cwd` */
  path?: string | undefined;
  /** What the import of `crm-changefeed` gives in a configuration in code. @defaultValue this package */
  library?: () => Promise<object>;
}

export interface LoadedConfig {
  config: Config;
  /** The file, or `the environment`. */
  source: string;
  /** Paths of all files it was read from, the configuration file first; empty if it comes from the environment alone. */
  files: readonly string[];
}

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs', '.json'];
/** The names that are searched for, in this order. */
export const CONFIG_FILES = EXTENSIONS.map((extension) => `changefeed.config${extension}`);

/**
 * Loads `path`, else `CHANGEFEED_CONFIG`, else `changefeed.config.{ts,mts,js,mjs,json}` in `cwd`, else the
 * environment alone.
 * @throws ChangefeedError CF_CONFIG_UNLOADABLE when a file is missing or cannot be evaluated, CF_CONFIG_INVALID when it
 *   has an option that is not allowed
 */
export async function loadConfig({ cwd, env, path, library = ownLibrary }: LoadOptions): Promise<LoadedConfig> {
  const file = findFile({ cwd, named: path ?? envValue(env, 'CHANGEFEED_CONFIG') });
  if (file === undefined) return { config: configFromEnvironment(env), source: 'the environment', files: [] };
  const source = nameOf(file, cwd);
  const { raw, files } =
    extname(file) === '.json'
      ? { raw: readJson({ file, source, env }), files: [file] }
      : await runCode({ file, source, library });
  return { config: parseConfig(raw, { source, redisUrl: envValue(env, 'REDIS_URL') }), source, files };
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

function readJson({ file, source, env }: { file: string; source: string; env: Env }): unknown {
  let raw: unknown;
  try {
    raw = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // The parser quotes the text around the error, which may be a token: the message has only the position.
    throw unloadable(source, `it cannot be read as JSON${placeOf(error)}. Correct the syntax there`);
  }
  const { value, problems } = replaceVariables(raw, env);
  if (problems.length > 0) throw invalidConfig(source, problems);
  return value;
}

function placeOf(error: unknown): string {
  const place = /\(line \d+ column \d+\)|at position \d+|Unexpected end/.exec(messageOf(error));
  if (place !== null) return ` (${place[0].replace(/[()]/g, '')})`;
  return error instanceof SyntaxError ? '' : ` (${messageOf(error)})`;
}

interface Code {
  file: string;
  source: string;
  library: () => Promise<object>;
}

async function runCode({ file, source, library }: Code): Promise<{ raw: unknown; files: readonly string[] }> {
  let evaluated: Evaluated;
  try {
    evaluated = await evaluate(file, await library());
  } catch (error) {
    throw unloadable(
      source,
      `${error instanceof SyntaxError ? 'it has a syntax error' : 'running it failed'}: ${firstLine(error)}. Correct the file`,
      error,
    );
  }
  const { module, files } = evaluated;
  if (typeof module === 'object' && module !== null && 'default' in module && module.default !== undefined) {
    return { raw: module.default, files };
  }
  throw unloadable(source, 'it has no default export. Write: export default defineConfig({ … })');
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
