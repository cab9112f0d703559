/** Where something stands in a configuration in JSON. */
import jsonc, { type Node, type ParseError } from 'jsonc-parser';

/** An offset in the text. */
export interface JsonFault {
  at: number;
  /** `comma expected` */
  reason: string;
}

/** What makes the text invalid JSON, and where; undefined where nothing is found. */
export function faultInJson(text: string): JsonFault | undefined {
  const errors: ParseError[] = [];
  jsonc.parseTree(text, errors, { disallowComments: true });
  const [first] = errors;
  if (first === undefined) return undefined;
  // "CommaExpected"
  const words = jsonc.printParseErrorCode(first.error).replace(/(?<=.)[A-Z]/g, (letter) => ` ${letter}`);
  return { at: first.offset, reason: words.toLowerCase() };
}

/** The option at a path, or the nearest place around it that the text shows. */
export function optionInJson(text: string, path: readonly PropertyKey[]): number {
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
