/** A command declared as data: its parameters, with their readers, give `run` its typed input. Names are in commands.ts. */
import type { Command } from 'commander';
import type { OpenedService } from '../app/process.js';
import { listsOf } from '../config/lists.js';
import type { Config } from '../config/schema.js';
import type { Lists } from '../crm/lists/lists.js';
import type { Io } from './io.js';

/** Reads a text of the command line. `name` is what the message of a usage error begins with. */
export type Read<T> = (text: string, name: string) => T;

/** An argument or an option whose value has the type `T`. */
export interface Parameter<T> {
  readonly form: 'argument' | 'option' | 'required option';
  /** As help shows it, from the name of the parameter. */
  readonly term: (name: string) => string;
  readonly description: string;
  readonly read?: (text: string, name: string) => unknown;
  /** Takes several values, each of them once. */
  readonly several?: boolean;
  readonly fallback?: T;
  /**
   * For commands that use the feed: checks a given value against the configuration, before Redis is opened.
   * @throws ChangefeedError CF_USAGE
   */
  resolve?(value: T & {}, known: Known): T & {};
}

/** What arguments are checked against: the configuration, and the built-in lists together with its own. */
export interface Known {
  config: Config;
  lists: Lists;
}

/** `--json` */
export function flag(description: string): Parameter<boolean | undefined> {
  return { form: 'option', term: (name) => `--${name}`, description };
}

/** `--no-follow`, for a parameter named `follow` that is true without it. */
export function negatedFlag(description: string): Parameter<boolean> {
  return { form: 'option', term: (name) => `--no-${name}`, description };
}

export const asText: Read<string> = (text) => text;

/** `--timeout <duration>` */
export function option<T>(value: string, description: string, read: Read<T>): Parameter<T | undefined> {
  return { form: 'option', term: (name) => `--${name} <${value}>`, description, read };
}

export function optionWithDefault<T>(parameter: Parameter<T | undefined>, fallback: T): Parameter<T> {
  return { ...parameter, fallback };
}

/** `--list <name=number>`, any number of times */
export function repeatedOption<T>(value: string, description: string, read: Read<T>): Parameter<T[] | undefined> {
  return { form: 'option', term: (name) => `--${name} <${value}>`, description, read, several: true };
}

export function requiredOption<T>(value: string, description: string, read: Read<T>): Parameter<T> {
  return { form: 'required option', term: (name) => `--${name} <${value}>`, description, read };
}

/** `<list>` */
export function argument<T>(description: string, read: Read<T>): Parameter<T> {
  return { form: 'argument', term: (name) => `<${name}>`, description, read };
}

/** `[lists...]`: any number of arguments, each of them once. */
export function restArguments<T>(description: string, read: Read<T>): Parameter<T[]> {
  return {
    form: 'argument',
    term: (name) => `[${name}...]`,
    description,
    read,
    several: true,
  };
}

/** `<lists...>` */
export function atLeastOne<T>(parameter: Parameter<T[]>): Parameter<T[]> {
  return { ...parameter, term: (name) => `<${name}...>` };
}

type Value<P> = P extends Parameter<infer T> ? T : never;
type OptionalNames<Parameters> = {
  [Name in keyof Parameters]: undefined extends Value<Parameters[Name]> ? Name : never;
}[keyof Parameters];

/** What `run` receives. An option that was not given is absent. */
type Input<Parameters> = {
  [Name in Exclude<keyof Parameters, OptionalNames<Parameters>>]: Value<Parameters[Name]>;
} & {
  [Name in OptionalNames<Parameters>]?: Exclude<Value<Parameters[Name]>, undefined>;
} & {
  /** `--config`: the configuration file. */
  config?: string;
};

interface CommandSpec<Parameters> {
  /** Arguments in the order of the command line. An option's name is written with hyphens: `controlToken` is `--control-token`. */
  readonly input: Parameters;
  /** Resolves to the exit code; undefined is 0. */
  readonly run: (input: Input<Parameters>, io: Io) => Promise<number | undefined>;
}

interface FeedCommandSpec<Parameters> extends Omit<CommandSpec<Parameters>, 'run'> {
  readonly run: (input: Input<Parameters>, service: CommandService, io: Io) => Promise<number | undefined>;
}

/** Gives a command its arguments, its options and what it does. */
export type DefineCommand = (command: Command, io: Io, done: (exitCode: number) => void) => void;

export function defineCommand<Parameters extends Record<string, Parameter<unknown>>>(
  spec: CommandSpec<Parameters>,
): DefineCommand {
  return (command, io, done) => {
    for (const [name, parameter] of Object.entries(spec.input)) addParameter(command, name, parameter);
    const names = Object.keys(spec.input).filter((name) => spec.input[name]?.form === 'argument');
    command.action(async () => {
      for (const [index, name] of names.entries()) command.setOptionValue(name, command.processedArgs[index]);
      done((await spec.run(command.optsWithGlobals<Input<Parameters>>(), io)) ?? 0);
    });
  };
}

function addParameter(command: Command, name: string, parameter: Parameter<unknown>): void {
  const { form, description, read, several, fallback } = parameter;
  const hyphenated = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const term = parameter.term(hyphenated);
  const label = form === 'argument' ? command.name() : `--${hyphenated}`;
  if (read === undefined) command.option(term, description);
  else {
    const parse = (text: string): unknown => read(text, label);
    const append = (text: string, before: readonly unknown[] = []): unknown[] => [...new Set([...before, parse(text)])];
    if (form === 'argument') command.argument(term, description, several === true ? append : parse);
    else if (several === true) command.option(term, description, append);
    else if (form === 'option') command.option(term, description, parse, fallback);
    else command.requiredOption(term, description, parse);
  }
}

export type CommandService = Pick<OpenedService, 'feed'> & Known;

/** A command that uses the feed of the configuration. */
export function defineFeedCommand<Parameters extends Record<string, Parameter<unknown>>>({
  run,
  ...spec
}: FeedCommandSpec<Parameters>): DefineCommand {
  return defineCommand({
    ...spec,
    run(input, io) {
      const resolved: Record<string, unknown> = { ...input };
      const check = (known: Known): void => {
        for (const [name, parameter] of Object.entries(spec.input)) {
          const value = resolved[name];
          if (value !== undefined && value !== null) resolved[name] = parameter.resolve?.(value, known) ?? value;
        }
      };
      return withFeed(io, input.config, (service) => run(resolved as typeof input, service, io), check);
    },
  });
}

/** Opens the feed of the configuration for an interactive command, and closes it afterwards. */
export async function withFeed<T>(
  io: Io,
  path: string | undefined,
  use: (service: CommandService) => Promise<T>,
  check: (known: Known) => void = () => undefined,
): Promise<T> {
  const knownOf = (config: Config): Known => ({ config, lists: listsOf(config.workspaces) });
  // Loaded when a command runs: it brings BullMQ and the clients along, and help needs none of them.
  const { openService } = await import('../app/process.js');
  const { feed, config } = await openService(io, {
    path,
    quiet: true,
    signal: io.signal,
    check: (loaded) => check(knownOf(loaded)),
  });
  try {
    return await use({ feed, ...knownOf(config) });
  } finally {
    await feed.stop();
  }
}
