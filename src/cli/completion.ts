/** Scripts that let a shell complete commands and options. They are made from the commands, and call nothing when they run. */
import type { Command, Option } from 'commander';

interface Completed {
  name: string;
  description: string;
  /** Of a noun: what can follow. */
  verbs: string[];
  options: { flag: string; long: string; description: string; takesValue: boolean }[];
}

export const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export function completionScript(shell: keyof typeof SHELLS, program: Command): string {
  const everywhere = program.options.filter(({ long }) => long === '--config');
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    verbs: command.commands.map((verb) => verb.name()),
    options: distinct(
      [command, ...command.commands].flatMap(({ options }) => [...options]),
      everywhere,
    ).map(optionOf),
  }));
  return SHELLS[shell](commands);
}

/** Verbs of a noun share some. */
function distinct(...options: readonly (readonly Option[])[]): Option[] {
  return [...new Map(options.flat().map((option) => [option.long, option])).values()];
}

function optionOf({ long, description, required, optional }: Option): Completed['options'][number] {
  const flag = long ?? '';
  return { flag, long: flag.slice(2), description, takesValue: required || optional };
}

function bashScript(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ name, verbs, options }) =>
      `    ${name}) words=${quoted([...verbs, ...options.map(({ flag }) => flag)].join(' '))} ;;`,
  );
  return `_changefeed() {
  local words=${quoted(commands.map(({ name }) => name).join(' '))}
  [ "$COMP_CWORD" -gt 1 ] && case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words='' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _changefeed changefeed crm-changefeed`;
}

function zshScript(commands: readonly Completed[]): string {
  const entry = (name: string, description: string): string => quoted(`${name}:${description.replaceAll(':', '\\:')}`);
  const cases = commands.map(
    ({ name, verbs, options }) =>
      `    ${name}) found=(${[...verbs, ...options.map(({ flag, description }) => entry(flag, description))].join(' ')}) ;;`,
  );
  return `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_changefeed() {
  local -a found
  if (( CURRENT == 2 )); then
    found=(${commands.map(({ name, description }) => entry(name, description)).join(' ')})
  else case $words[2] in
${cases.join('\n')}
  esac; fi
  _describe changefeed found || _files
}
compdef _changefeed changefeed crm-changefeed`;
}

function fishScript(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ name, description, verbs, options }) => [
    `complete -c $c -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
    ...verbs.map((verb) => `complete -c $c -n '__fish_seen_subcommand_from ${name}' -f -a ${verb}`),
    ...options.map(
      ({ long, description: about, takesValue }) =>
        `complete -c $c -n '__fish_seen_subcommand_from ${name}' -l ${long} -d ${quoted(about)}${takesValue ? ' -r' : ''}`,
    ),
  ]);
  return ['for c in changefeed crm-changefeed', ...lines.map((line) => `  ${line}`), 'end'].join('\n');
}

/** All three shells read it so. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
