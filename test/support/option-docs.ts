/** What the docstrings of an interface say of its options: the source of the reference pages. */
import { readFileSync } from 'node:fs';
import ts from 'typescript';

export interface OptionDoc {
  name: string;
  required: boolean;
  meaning: string;
  /** As it stands in `@defaultValue`; empty without one. */
  defaultValue: string;
}

/** The interface's own members, those it extends left out. */
export function optionDocs(file: string, name: string): OptionDoc[] {
  const url = new URL(`../../src/${file}`, import.meta.url);
  const source = ts.createSourceFile(file, readFileSync(url, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = source.statements.find((one): one is ts.InterfaceDeclaration => {
    return ts.isInterfaceDeclaration(one) && one.name.text === name;
  });
  if (found === undefined) throw new Error(`${file} has no interface ${name}`);
  return found.members.filter(ts.isPropertySignature).map(docOf);
}

function docOf(member: ts.PropertySignature): OptionDoc {
  const [doc] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
  const tag = doc?.tags?.find(({ tagName }) => tagName.text === 'defaultValue');
  return {
    name: member.name.getText(),
    required: member.questionToken === undefined,
    meaning: oneLine(ts.getTextOfJSDocComment(doc?.comment)),
    defaultValue: oneLine(ts.getTextOfJSDocComment(tag?.comment)).replaceAll('`', ''),
  };
}

function oneLine(text = ''): string {
  return text.replace(/\s+/g, ' ').trim();
}
