/** Environment variables of the configuration. An empty variable counts as not set. */
import type { Config } from './schema.js';
import { pathText, type ConfigProblem, type Path } from '../kit/schema/problem.js';
import { unsetText, unsetValue, variableIn } from '../kit/schema/env-variable.js';
import { parseConfig } from './parse.js';

export type Env = Readonly<Record<string, string | undefined>>;

export function envValue(env: Env, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value.trim() === '' ? undefined : value;
}

const VARIABLE_OF: Readonly<Record<string, string>> = {
  'workspaces[0].baseUrl': 'CHANGEFEED_BASE_URL',
  'workspaces[0].token': 'CHANGEFEED_TOKEN',
};

/** CHANGEFEED_KEY, and CHANGEFEED_HTTP_HOST, _PORT and _TOKEN win over the configuration, as REDIS_URL does: an image is made once and runs in many places. */
export function withEnvironment(raw: unknown, env: Env): unknown {
  const [key, host, port, token] = ['KEY', 'HTTP_HOST', 'HTTP_PORT', 'HTTP_TOKEN'].map((name) =>
    variableIn(env, `CHANGEFEED_${name}`),
  );
  if (!isObject(raw) || (key ?? host ?? port ?? token) === undefined) return raw;
  const http = isObject(raw['http']) ? raw['http'] : {};
  const tokens = isObject(http['tokens']) ? http['tokens'] : {};
  const given = {
    ...(host !== undefined && { host }),
    // What is no number is refused by what it says.
    ...(port !== undefined && { port: /^\d+$/.test(port) ? Number(port) : port }),
    ...(token !== undefined && { tokens: { ...tokens, operate: token } }),
  };
  return { ...raw, ...(key !== undefined && { key }), http: { ...http, ...given } };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** One workspace `default`, or with a key alone none yet; its events as lines on standard output. */
export function configFromEnvironment(env: Env): Config {
  const [baseUrl, token] = [variableIn(env, 'CHANGEFEED_BASE_URL'), variableIn(env, 'CHANGEFEED_TOKEN')];
  const comeLater = (baseUrl ?? token) === undefined && variableIn(env, 'CHANGEFEED_KEY') !== undefined;
  const raw = {
    workspaces: comeLater ? [] : [{ name: 'default', baseUrl, token }],
    subscriptions: [{ handler: 'ndjson', name: 'stdout', on: ['crm.*'] }],
  };
  return parseConfig(withEnvironment(raw, env), {
    source:
      'No configuration file was found ("changefeed init" writes one, "changefeed demo" needs none), and the environment variables do not replace one',
    redisUrl: variableIn(env, 'REDIS_URL'),
    remedyOf: (path) => {
      const variable = VARIABLE_OF[pathText(path)];
      return variable && `Set ${variable}, or run changefeed init.`;
    },
  });
}

export interface Replaced {
  value: unknown;
  problems: ConfigProblem[];
}

/** Replaces every `${NAME}` in the strings of a JSON value; one that is not set, by what the schema reports as such. */
export function replaceVariables(value: unknown, env: Env, path: Path = []): Replaced {
  if (typeof value === 'string') return replaceInText(value, env, path);
  if (!isObject(value)) return { value, problems: [] };
  const entries = Object.entries(value).map(([key, inner]) => {
    const step = Array.isArray(value) ? Number(key) : key;
    return { key, ...replaceVariables(inner, env, [...path, step]) };
  });
  const problems = entries.flatMap((entry) => entry.problems);
  if (Array.isArray(value)) return { value: entries.map((entry) => entry.value), problems };
  return { value: Object.fromEntries(entries.map((entry) => [entry.key, entry.value])), problems };
}

function replaceInText(text: string, env: Env, path: Path): Replaced {
  const missing: string[] = [];
  const value = text.replace(/\$\{([^}]*)\}/g, (_, name: string) => {
    const found = variableIn(env, name);
    if (found === undefined) missing.push(name);
    return found ?? unsetValue(name);
  });
  return {
    value,
    problems: missing.map((variable) => ({ path, problem: unsetText(variable), variable })),
  };
}
