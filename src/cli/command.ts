/** A command declared as data: its parameters, with their readers, give `run` its typed input. */
import { Argument, Option, type Command } from 'commander';
import type { entryOf } from '../actions/entry.js';
import type { World } from '../actions/carry-out.js';
import type { decidingIn, OpenedService } from '../service/process.js';
import type { Log } from '../kit/log.js';
import { listsOf } from '../config/lists.js';
import type { Config } from '../config/schema.js';
import type { Lists } from '../crm/lists/lists.js';
import type { Io } from './io.js';

/** Reads a text of the command line. `name` is what the message of a usage error begins with. */
export type Read<T> = (text: string, name: string) => T;

export interface Parameter<T, Term extends Argument | Option = Argument | Option> {
  readonly term: (name: string, command: string) => Term;
  /** Only in the type. */
  readonly value?: T;
  /** Checks a given value against the configuration, before Redis is opened. */
  resolve?(value: T & {}, known: Known): T & {};
}

export interface Known {
  config: Config;
  lists: Lists;
}

export function flag(description: string): Parameter<boolean | undefined> {
  return { term: (name) => new Option(`--${name}`, description) };
}

/** `--no-follow`, for a parameter named `follow` that is true without it. */
export function negatedFlag(description: string): Parameter<boolean> {
  return { term: (name) => new Option(`--no-${name}`, description) };
}

export const asText: Read<string> = (text) => text;

export function option<T>(
  value: string,
  description: string,
  read: Read<T>,
  short = '',
): Parameter<T | undefined, Option> {
  return {
    term: (name) =>
      new Option(`${short}--${name} <${value}>`, description).argParser((text) => read(text, `--${name}`)),
  };
}

export function optionWithDefault<T>({ term }: Parameter<T | undefined, Option>, fallback: T): Parameter<T> {
  return { term: (...names) => term(...names).default(fallback) };
}

export function repeatedOption<T>(value: string, description: string, read: Read<T>): Parameter<T[] | undefined> {
  return {
    term: (name) =>
      new Option(`--${name} <${value}>`, description).argParser(eachOnce((text) => read(text, `--${name}`))),
  };
}

export function argument<T>(description: string, read: Read<T>): Parameter<T> {
  return {
    term: (name, command) => new Argument(`<${name}>`, description).argParser((text) => read(text, command)),
  };
}

export function restArguments<T>(description: string, read: Read<T>, form = '[…]'): Parameter<T[]> {
  return {
    term: (name, command) =>
      new Argument(form.replace('…', `${name}...`), description).argParser(eachOnce((text) => read(text, command))),
  };
}

function eachOnce<T>(read: (text: string) => T): (text: string, before?: readonly T[]) => T[] {
  return (text, before = []) => [...new Set([...before, read(text)])];
}

type Value<P> = P extends Parameter<infer T> ? T : never;
type OptionalNames<Parameters> = {
  [Name in keyof Parameters]: undefined extends Value<Parameters[Name]> ? Name : never;
}[keyof Parameters];

type Input<Parameters> = {
  [Name in Exclude<keyof Parameters, OptionalNames<Parameters>>]: Value<Parameters[Name]>;
} & {
  [Name in OptionalNames<Parameters>]?: Exclude<Value<Parameters[Name]>, undefined>;
} & {
  config?: string;
};

interface CommandSpec<Parameters> {
  /** As on the command line, in order. Names of options get hyphens: `controlToken` is `--control-token`. */
  readonly input: Parameters;
  /** Resolves to the exit code; undefined is 0. */
  readonly run: (input: Input<Parameters>, io: Io) => Promise<number | undefined>;
}

export type DefineCommand = (command: Command, io: Io, done: (exitCode: number) => void) => void;

export function defineCommand<Parameters extends Record<string, Parameter<unknown>>>(
  spec: CommandSpec<Parameters>,
): DefineCommand {
  return (command, io, done) => {
    const argumentNames: string[] = [];
    const noun = command.parent?.parent == null ? '' : `${command.parent.name()} `;
    for (const [name, { term }] of Object.entries(spec.input)) {
      const made = term(
        name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
        noun + command.name(),
      );
      if (made instanceof Option) command.addOption(made);
      else {
        command.addArgument(made);
        argumentNames.push(name);
      }
    }
    command.action(async () => {
      for (const [index, name] of argumentNames.entries()) command.setOptionValue(name, command.processedArgs[index]);
      done((await spec.run(command.optsWithGlobals<Input<Parameters>>(), io)) ?? 0);
    });
  };
}

export interface CommandService extends Known {
  feed: OpenedService['feed'];
  /** Notes who has done what, in the audit and in one line of the log, as what is done on the page. */
  decided: (entry: ReturnType<typeof entryOf>) => Promise<void>;
  /** Who runs the command, and what an assistant of theirs asks. */
  assistant: () => { who: ReturnType<typeof decidingIn>['who']; world: World; log: Log };
}

export function defineFeedCommand<Parameters extends Record<string, Parameter<unknown>>>(spec: {
  readonly input: Parameters;
  readonly run: (input: Input<Parameters>, service: CommandService, io: Io) => Promise<number | undefined>;
  /** It needs Redis only, so the configuration of the running service will do where a new one is refused. @defaultValue false */
  readonly byLastValid?: boolean;
}): DefineCommand {
  return defineCommand({
    input: spec.input,
    run(input, io) {
      const resolved: Record<string, unknown> = { ...input };
      const check = (known: Known): void => {
        for (const [name, parameter] of Object.entries(spec.input)) {
          const value = resolved[name];
          if (value !== undefined && value !== null) resolved[name] = parameter.resolve?.(value, known) ?? value;
        }
      };
      const run = (service: CommandService) => spec.run(resolved as typeof input, service, io);
      return withFeed(io, input.config, run, { check, byLastValid: spec.byLastValid });
    },
  });
}

export async function withFeed<T>(
  io: Io,
  path: string | undefined,
  use: (service: CommandService) => Promise<T>,
  { check = () => undefined, byLastValid }: { check?: (known: Known) => void; byLastValid?: boolean | undefined } = {},
): Promise<T> {
  const knownOf = (config: Config): Known => ({ config, lists: listsOf(config.workspaces) });
  // Loaded when a command runs: it brings BullMQ and the clients along, and help needs none of them.
  const { decidingIn, openService } = await import('../service/process.js');
  const asked = { path, quiet: true, signal: io.signal, ...(byLastValid && { byLastValid }) };
  const options = { ...asked, check: (loaded: Config) => check(knownOf(loaded)) };
  const { feed, config, auditWith, worldWith } = await openService(io, options);
  try {
    const { who, log } = decidingIn(io);
    const audit = auditWith(log);
    const decided: CommandService['decided'] = async (entry) => {
      if (entry !== null) await audit.decided({ ...who, ...entry });
    };
    const assistant: CommandService['assistant'] = () => ({ who, world: worldWith(audit), log });
    return await use({ feed, decided, assistant, ...knownOf(config) });
  } finally {
    await feed.stop();
  }
}
