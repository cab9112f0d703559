import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { optionDocs } from '../support/option-docs.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What the editor shows for the options of a type: by name, as text. */
function shownByEditor(program: ts.Program, file: string, typeName: string): Record<string, string> {
  const source = program.getSourceFile(`${ROOT}src/${file}`)!;
  const alias = source.statements.find(
    (one): one is ts.TypeAliasDeclaration => ts.isTypeAliasDeclaration(one) && one.name.text === typeName,
  )!;
  const checker = program.getTypeChecker();
  const options = checker.getTypeAtLocation(alias).getProperties();
  const textOf = (option: ts.Symbol): string => ts.displayPartsToString(option.getDocumentationComment(checker));
  return Object.fromEntries(options.map((option) => [option.name, textOf(option).replace(/\s+/g, ' ')]));
}

describe('configuration: the types of the options', () => {
  it('configuration: the editor shows the comments of the schema', () => {
    const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => ts.sys.readFile(path)) as { config: object };
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
    const types = [
      ['config/schema.ts', 'ConfigInput', 'configSchema'],
      ['config/schema.ts', 'ListInput', 'listOptions'],
      ['handlers/options.ts', 'SubscriptionOptions', 'subscriptionShape'],
      ['handlers/options.ts', 'RetryOptions', 'retryOptions'],
      ['handlers/http/endpoint.ts', 'EndpointOptions', 'endpointShape'],
      ['handlers/bullmq/options.ts', 'BullmqJobOptions', 'jobOptions'],
      ['handlers/postgres/options.ts', 'PostgresConnection', 'connectionOptions'],
    ] as const;
    const files = new Set(types.map(([file]) => `${ROOT}src/${file}`));
    const program = ts.createProgram([...files], options);
    for (const [file, type, schema] of types) {
      // The options that describe a list of your own are declared in a file of their own.
      const further = type === 'ListInput' ? optionDocs('config/lists.ts', 'descriptorOptions') : [];
      const declared = [...optionDocs(file, schema), ...further].map(({ name, meaning }) => [name, meaning]);
      expect(shownByEditor(program, file, type)).toEqual(Object.fromEntries(declared));
    }
  });
});
