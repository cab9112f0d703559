/**
 * Where an option stands in the text of a configuration. The file has been evaluated, so its values have no positions; they are
 * found again in its syntax tree, which the loader (jiti, that is Babel) makes of TypeScript, JavaScript and JSON alike.
 */
import { createJiti } from 'jiti';

/** From 1. */
export interface Position {
  line: number;
  column: number;
}

/** A part of the text, by its offsets. */
export interface Range {
  start: number;
  end: number;
}

/** What is asked of a text. */
export interface Syntax {
  /**
   * The option at a path in the default export, or the nearest place around it that the text shows: an option may come from a
   * function, another file or an expression.
   */
  optionAt(path: readonly PropertyKey[]): Position | undefined;
  /** The option at a path in the argument of a call. The call begins on `line` or includes it. */
  argumentAt(call: { name: string; line: number }, path: readonly PropertyKey[]): Position | undefined;
  /** Texts that may be secrets. */
  secrets: readonly Range[];
}

export type Parsed = { outcome: 'parsed'; syntax: Syntax } | { outcome: 'invalid'; at: Position; problem: string };

interface Node extends Range {
  readonly type: string;
  readonly loc: { readonly start: { readonly line: number; readonly column: number } };
  readonly [part: string]: unknown;
}

const JSON_PREFIX = 'export default ';
// Typed as an option, `token: '…'`, or as a variable, `const apiToken = '…'`.
const SECRET_NAME = /token|secret|passw|url|connection|auth|key|env|payload|redis/i;

/** Runs `use` with the syntax of a text: the tree is only whole while it is being read. */
export function withSyntax<T>(
  { text, file }: { text: string; file: string },
  use: (parsed: Parsed) => T,
): T | undefined {
  const prefix = file.endsWith('.json') ? JSON_PREFIX : '';
  let result: { value: T } | undefined;
  // Before any plugin changes the tree.
  const pre = ({ ast }: { ast: { program: Node } }): void => {
    result = { value: use({ outcome: 'parsed', syntax: syntaxOf(ast.program, prefix.length) }) };
  };
  const code = createJiti(file, { fsCache: false }).transform({
    source: prefix + text,
    filename: file,
    ts: prefix === '',
    babel: { plugins: [{ pre }] },
  });
  if (result !== undefined) return result.value;
  const failure = failureIn(code);
  if (failure === undefined) return undefined;
  const at = moved({ line: failure.line, column: failure.column + 1 }, prefix.length);
  return use({ outcome: 'invalid', at, problem: failure.message.trim() });
}

interface Failure {
  line: number;
  column: number;
  message: string;
}

/** The loader reports a text that it cannot read as code that holds the error. */
function failureIn(code: string): Failure | undefined {
  const [, json] = /^exports\.__JITI_ERROR__ = (\{.*\})/s.exec(code) ?? [];
  return json === undefined ? undefined : (JSON.parse(json) as Failure);
}

function moved({ line, column }: Position, by: number): Position {
  return { line, column: line === 1 ? Math.max(1, column - by) : column };
}

function syntaxOf(program: Node, offset: number): Syntax {
  const place = ({ loc: { start } }: Node): Position => moved({ line: start.line, column: start.column + 1 }, offset);
  const follow = (from: Node, path: readonly PropertyKey[]): Node => {
    const [step, ...rest] = path;
    const found = step === undefined ? undefined : member(valueOf(from, program), step);
    return found === undefined ? from : follow(found, rest);
  };
  return {
    optionAt(path) {
      const root = nodesOf(program)
        .map(exportedBy)
        .find((node) => node !== undefined);
      return root && place(follow(root, path));
    },
    argumentAt({ name, line }, path) {
      const calls = nodesOf(program).filter((node) => nameOfCall(node) === name);
      const around = (node: Node): boolean => node.loc.start.line <= line && line <= endLine(node);
      const call = calls.find((node) => node.loc.start.line === line) ?? calls.findLast(around);
      if (call === undefined) return undefined;
      const found = follow(call, path);
      return place(found);
    },
    secrets: nodesOf(program)
      .flatMap(secretIn)
      .flatMap(nodesOf)
      .filter(({ type }) => type === 'StringLiteral' || type === 'TemplateElement')
      .map(({ start, end }) => ({ start: start - offset, end: end - offset })),
  };
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'loc' in value;
}

/** The node and everything in it, in the order of the text. */
function nodesOf(node: Node): Node[] {
  const inner = Object.entries(node).flatMap(([part, value]) =>
    part.endsWith('Comments')
      ? []
      : Array.isArray(value)
        ? (value as unknown[]).filter(isNode)
        : isNode(value)
          ? [value]
          : [],
  );
  return [node, ...inner.flatMap(nodesOf)];
}

function part(node: Node, name: string): Node | undefined {
  const value = node[name];
  return isNode(value) ? value : undefined;
}

function parts(node: Node, name: string): Node[] {
  const value = node[name];
  return Array.isArray(value) ? (value as unknown[]).filter(isNode) : [];
}

/** `export default …`, `module.exports = …` */
function exportedBy(node: Node): Node | undefined {
  if (node.type === 'ExportDefaultDeclaration') return part(node, 'declaration');
  if (node.type !== 'AssignmentExpression') return undefined;
  const target = part(node, 'left');
  const isModule = target?.type === 'MemberExpression' && wordOf(part(target, 'object')) === 'module';
  return isModule && wordOf(part(target, 'property')) === 'exports' ? part(node, 'right') : undefined;
}

/** The object or array that an expression stands for, as far as the text shows it. */
function valueOf(node: Node, program: Node): Node {
  const inner = innerOf(node, program);
  return inner === undefined ? node : valueOf(inner, program);
}

function innerOf(node: Node, program: Node): Node | undefined {
  switch (node.type) {
    case 'ObjectProperty':
      return part(node, 'value');
    case 'CallExpression':
      return parts(node, 'arguments')[0];
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
      return part(node, 'expression');
    case 'AwaitExpression':
      return part(node, 'argument');
    case 'Identifier':
      return nodesOf(program)
        .filter((one) => one.type === 'VariableDeclarator' && wordOf(part(one, 'id')) === node['name'])
        .map((one) => part(one, 'init'))
        .find((one) => one !== undefined);
    default:
      return undefined;
  }
}

function member(node: Node, step: PropertyKey): Node | undefined {
  if (node.type === 'ObjectExpression')
    return parts(node, 'properties').find((one) => wordOf(part(one, 'key')) === String(step));
  if (node.type !== 'ArrayExpression') return undefined;
  const elements = parts(node, 'elements');
  // What stands behind a spread has another index than it seems.
  const isSpread = elements.slice(0, Number(step) + 1).some(({ type }) => type === 'SpreadElement');
  return isSpread ? undefined : elements[Number(step)];
}

function wordOf(node: Node | undefined): string | undefined {
  const word = node?.type === 'Identifier' ? node['name'] : node?.type === 'StringLiteral' ? node['value'] : undefined;
  return typeof word === 'string' ? word : undefined;
}

function nameOfCall(node: Node): string | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const callee = part(node, 'callee');
  return callee?.type === 'MemberExpression' ? wordOf(part(callee, 'property')) : wordOf(callee);
}

function endLine(node: Node): number {
  return (node.loc as unknown as { end: { line: number } }).end.line;
}

/** The value of an option or a variable whose name suggests a secret. `env('NAME')` names a variable and is none. */
function secretIn(node: Node): Node[] {
  const [name, value] =
    node.type === 'ObjectProperty' ? ['key', 'value'] : node.type === 'VariableDeclarator' ? ['id', 'init'] : [];
  if (name === undefined || value === undefined || !SECRET_NAME.test(wordOf(part(node, name)) ?? '')) return [];
  const found = part(node, value);
  return found === undefined || nameOfCall(found) === 'env' ? [] : [found];
}
