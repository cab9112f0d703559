/** The comments of options where they are declared, in a schema or in an interface: the source of the reference pages. */
import { readFileSync } from 'node:fs';
import ts from 'typescript';

export interface OptionDoc {
  name: string;
  required: boolean;
  meaning: string;
  defaultValue: string;
}

type Option = ts.PropertySignature | ts.PropertyAssignment | ts.ShorthandPropertyAssignment;

/**
 * The options declared by `const name = strictOptions({ … })`, `const name = { … }` or `interface name { … }`; without those
 * that are spread into it or inherited.
 */
export function optionDocs(files: string | readonly string[], name: string): OptionDoc[] {
  const statements = [files].flat().flatMap(statementsOf);
  const found = statements.map((statement) => membersOf(statement, name)).find((one) => one !== undefined);
  if (found === undefined) throw new Error(`${String(files)} declares no options ${name}`);
  return found.filter(isOption).map(docOf);
}

const parsed = new Map<string, readonly ts.Statement[]>();

function statementsOf(file: string): readonly ts.Statement[] {
  const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
  const statements = parsed.get(file) ?? ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true).statements;
  parsed.set(file, statements);
  return statements;
}

function membersOf(statement: ts.Statement, name: string): readonly ts.Node[] | undefined {
  if (ts.isInterfaceDeclaration(statement)) return statement.name.text === name ? statement.members : undefined;
  if (!ts.isVariableStatement(statement)) return undefined;
  const declared = statement.declarationList.declarations.find((one) => one.name.getText() === name);
  return declared?.initializer && firstObject(declared.initializer)?.properties;
}

function firstObject(node: ts.Node): ts.ObjectLiteralExpression | undefined {
  return ts.isObjectLiteralExpression(node) ? node : ts.forEachChild(node, firstObject);
}

function isOption(node: ts.Node): node is Option {
  return ts.isPropertySignature(node) || ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node);
}

function docOf(option: Option): OptionDoc {
  const [doc] = ts.getJSDocCommentsAndTags(option).filter(ts.isJSDoc);
  const tag = doc?.tags?.find(({ tagName }) => tagName.text === 'defaultValue');
  return {
    name: option.name.getText(),
    required: !isOptional(option),
    meaning: oneLine(ts.getTextOfJSDocComment(doc?.comment)),
    defaultValue: oneLine(ts.getTextOfJSDocComment(tag?.comment)).replaceAll('`', ''),
  };
}

function isOptional(option: Option): boolean {
  if (ts.isPropertySignature(option)) return option.questionToken !== undefined;
  return ts.isPropertyAssignment(option) && mayBeLeftOut(option.initializer);
}

/** Also within what only marks a schema: `secret(….default({}))`. */
function mayBeLeftOut(schema: ts.Node | undefined): boolean {
  if (schema === undefined || !ts.isCallExpression(schema)) return false;
  const { expression, arguments: given } = schema;
  if (ts.isIdentifier(expression)) return ['secret', 'address'].includes(expression.text) && mayBeLeftOut(given[0]);
  return ts.isPropertyAccessExpression(expression) && OPTIONAL.includes(expression.name.text);
}

const OPTIONAL = ['optional', 'default', 'prefault'];

function oneLine(text = ''): string {
  return text.replace(/\s+/g, ' ').trim();
}
