/** Editors show the docstrings of what the package exports: everything public has one. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Members whose name says all. */
const PLAIN = /^(workspace|list|id|name|subscription|signal|clock|log|logId|event|events)$/;

function undocumented(entries: readonly string[]): { missing: string[]; documented: number } {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile.bind(ts.sys)).config,
    ts.sys,
    ROOT,
  );
  const program = ts.createProgram(entries, options);
  const checker = program.getTypeChecker();
  const missing: string[] = [];
  let documented = 0;
  const check = (name: string, symbol: ts.Symbol): void => {
    const isDocumented = symbol.getDocumentationComment(checker).length > 0 || symbol.getJsDocTags(checker).length > 0;
    if (isDocumented) documented += 1;
    else missing.push(name);
  };
  for (const entry of entries) {
    const file = checker.getSymbolAtLocation(program.getSourceFile(entry)!)!;
    for (const exported of checker.getExportsOfModule(file)) {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      check(exported.name, symbol);
      if ((symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) === 0) continue;
      for (const [key, member] of symbol.members ?? []) {
        const name = String(key);
        // Type parameters, constructors and private members have no name of their own.
        if (name.startsWith('__') || (member.flags & ts.SymbolFlags.TypeParameter) !== 0 || PLAIN.test(name)) continue;
        check(`${exported.name}.${name}`, member);
      }
    }
  }
  return { missing, documented };
}

it('docstrings: everything that the package exports has one', () => {
  const { missing, documented } = undocumented(
    ['index', 'client/index', 'testing/index', 'testing/kind'].map((entry) => `${ROOT}src/${entry}.ts`),
  );
  expect(missing).toEqual([]);
  expect(documented).toBeGreaterThan(300);
});
