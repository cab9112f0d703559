/** Environment variables of the configuration. An empty variable counts as not set. */
import type { Config } from './schema.js';
import { pathText, type ConfigProblem, type Path } from '../kit/schema/problem.js';
import { unsetText, unsetValue } from '../kit/schema/env-variable.js';
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

/** One workspace `default`, its events as lines on standard output. */
export function configFromEnvironment(env: Env): Config {
  const raw = {
    workspaces: [
      { name: 'default', baseUrl: envValue(env, 'CHANGEFEED_BASE_URL'), token: envValue(env, 'CHANGEFEED_TOKEN') },
    ],
    subscriptions: [{ handler: 'ndjson', name: 'stdout', on: ['crm.*'] }],
  };
  return parseConfig(raw, {
    source:
      'No configuration file was found ("changefeed init" writes one, "changefeed demo" needs none), and the environment variables do not replace one',
    redisUrl: envValue(env, 'REDIS_URL'),
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
  if (typeof value !== 'object' || value === null) return { value, problems: [] };
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
    const found = envValue(env, name);
    if (found === undefined) missing.push(name);
    return found ?? unsetValue(name);
  });
  return {
    value,
    problems: missing.map((variable) => ({ path, problem: unsetText(variable), variable })),
  };
}
