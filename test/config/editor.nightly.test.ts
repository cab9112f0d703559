import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { optionDocs } from '../../.ci/docs/options.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

function shownByEditor(program: ts.Program, file: string, typeName: string): Record<string, string> {
  const source = program.getSourceFile(`${ROOT}src/${file}`)!;
  const alias = source.statements.find(
    (one) => (ts.isTypeAliasDeclaration(one) || ts.isInterfaceDeclaration(one)) && one.name.text === typeName,
  )!;
  const checker = program.getTypeChecker();
  const options = checker.getTypeAtLocation(alias).getProperties();
  const textOf = (option: ts.Symbol): string => ts.displayPartsToString(option.getDocumentationComment(checker));
  return Object.fromEntries(options.map((option) => [option.name, textOf(option).replace(/\s+/g, ' ')]));
}

function optionsOfCompiler(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => ts.sys.readFile(path)) as { config: object };
  return ts.parseJsonConfigFileContent(config, ts.sys, ROOT).options;
}

/** A file of a user that is open in an editor. `at` finds a position in it: the end of a text. */
function openInEditor(text: string): { service: ts.LanguageService; file: string; at: (end: string) => number } {
  const file = `${ROOT}test/config/open-in-editor.ts`;
  const service = ts.createLanguageService({
    readFile: (name) => ts.sys.readFile(name),
    directoryExists: (name) => ts.sys.directoryExists(name),
    getDirectories: (name) => ts.sys.getDirectories(name),
    readDirectory: (...call) => ts.sys.readDirectory(...call),
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const content = name === file ? text : ts.sys.readFile(name);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => ROOT,
    getCompilationSettings: optionsOfCompiler,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (name) => name === file || ts.sys.fileExists(name),
  });
  return { service, file, at: (end) => text.indexOf(end) + end.length };
}

const OPENED = `
import { defineHandler } from '../../src/index.js';
defineHandler({ name: 'a', on: ['crm.todo.completed'], handle: (done) => done. });
defineHandler({ name: 'a', on: ['crm.todo.completed'], handle: (done) => done.data. });
defineHandler({ name: 'b', handle: (any) => any.data. });
defineHandler({ name: 'c', on: ['crm.person.updated'], handle: (edit) => edit.data.changes[0]. });
defineHandler({ name: 'd', on: ['changefeed.*'], handle: (ours) => ours.data.notice. });
`;

describe('configuration: the types of the options', () => {
  const { service, file, at } = openInEditor(OPENED);

  it('configuration: the editor shows the comments of the schema', () => {
    const types = [
      ['config/schema.ts', 'ConfigInput', 'configSchema'],
      ['config/workspace-options.ts', 'ListInput', 'listOptions'],
      ['delivery/handlers/options.ts', 'SubscriptionOptions', 'subscriptionShape'],
      ['delivery/handlers/options.ts', 'RetryOptions', 'retryOptions'],
      ['delivery/handlers/http/endpoint.ts', 'EndpointOptions', 'endpointShape'],
      ['delivery/handlers/bullmq/bullmq.ts', 'BullmqJobOptions', 'jobOptions'],
    ] as const;
    const files = new Set(types.map(([file]) => `${ROOT}src/${file}`));
    const program = ts.createProgram([...files], optionsOfCompiler());
    for (const [file, type, schema] of types) {
      // The options that describe a list of your own are declared in a file of their own.
      const further = type === 'ListInput' ? optionDocs('config/lists.ts', 'descriptorOptions') : [];
      const declared = [...optionDocs(file, schema), ...further].map(({ name, meaning }) => [name, meaning]);
      expect(shownByEditor(program, file, type)).toEqual(Object.fromEntries(declared));
    }
  });

  it('configuration: the editor shows what each member of an event means', () => {
    const silent = ['done.', 'done.data.', 'any.data.', 'edit.data.changes[0].', 'ours.data.notice.'].flatMap(
      (before) => {
        const position = at(`=> ${before}`);
        const members = service.getCompletionsAtPosition(file, position, {})?.entries.map(({ name }) => name) ?? [];
        expect(members, before).not.toEqual([]);
        return members
          .filter((name) => {
            const shown = service.getCompletionEntryDetails(file, position, name, {}, undefined, {}, undefined);
            return ts.displayPartsToString(shown?.documentation) === '';
          })
          .map((name) => before + name);
      },
    );
    expect(silent).toEqual([]);
  });
});
