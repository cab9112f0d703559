/** A configuration in JSON as text: where an option stands, and the lines around it for a person to see. */
import * as parser from 'jsonc-parser';
import type { Node, ParseError } from 'jsonc-parser';
import type { Path } from '../kit/schema/problem.js';
import type { Place } from './report.js';

/** Node finds all of it in a default export, and bundlers take a form of the package that has none. */
const jsonc = ((Reflect.get(parser, 'default') as unknown) ?? parser) as typeof parser;

/** No option stands deeper. What follows would run out of stack. */
export const DEEPEST = 100;

export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** The place and reason; undefined where nothing is found, or it is nested too deep for the parser. */
export function faultInJson(text: string): { offset: number; reason: string } | undefined {
  const errors: ParseError[] = [];
  try {
    jsonc.parseTree(text, errors, { disallowComments: true });
  } catch {
    return undefined;
  }
  const [first] = errors;
  if (first === undefined) return undefined;
  // "CommaExpected"
  const words = jsonc.printParseErrorCode(first.error).replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`);
  return { offset: first.offset, reason: words.toLowerCase() };
}

/** The offset of the option at a path, or of the nearest place around it that the text shows. */
export function optionInJson(text: string, path: Path): number {
  const root = jsonc.parseTree(text);
  let node: Node | undefined = root;
  for (const step of path) {
    const next: Node | undefined =
      node && jsonc.findNodeAtLocation(node, [typeof step === 'number' ? step : String(step)]);
    if (next === undefined) break;
    node = next;
  }
  // With its key.
  return (node?.parent?.type === 'property' ? node.parent : node)?.offset ?? 0;
}

const LINES = 3;

export function placeInJson(file: string, text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n');
  const line = before.length;
  const lines = covered(text).split(/\r?\n/);
  return { file, line, column: (before.at(-1) ?? '').length + 1, lines: lines.slice(Math.max(0, line - LINES), line) };
}

// A shorter number is no secret.
const SHOWN = /^(\s+|[{}[\],:]|true|false|null|-?\d{1,3})$/;

/** Each character of a value becomes a dot, as any may be a secret and columns must stay. Only keys are shown. */
function covered(text: string): string {
  const scanner = jsonc.createScanner(text);
  const tokens: string[] = [];
  while ((scanner.scan(), scanner.getTokenLength() > 0))
    tokens.push(text.slice(scanner.getTokenOffset(), scanner.getTokenOffset() + scanner.getTokenLength()));
  const written = [...tokens.keys()].filter((at) => tokens[at]?.trim() !== '');
  const isKey = (at: number): boolean => {
    const index = written.indexOf(at);
    const [before = '', after] = [tokens[written[index - 1] ?? -1], tokens[written[index + 1] ?? -1]];
    return '{,'.includes(before) && after === ':';
  };
  return tokens
    .map((token, at) => (SHOWN.test(token) || isKey(at) ? token : token.replace(/(?!^")(?!"$)[^\n\r]/g, '•')))
    .join('');
}
