import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it, onTestFinished } from 'vitest';
import { typesFile } from '../../src/cli/schema-types.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const HANDLER = `
  import { defineHandler, type CrmRecord } from 'crm-changefeed';
  const nameOf = (record: CrmRecord): unknown => record['이름'];
  export default [
    defineHandler({
      name: 'typed',
      on: ['crm.person.updated', 'crm.person.deleted'],
      handle({ type, data }) {
        if (type === 'crm.person.deleted') return;
        const name: string = data.after.이름;
        const grade: string | null | undefined = data.after.등급;
        const deals: number = data.before?.['딜 개수'] ?? 0;
        nameOf(data.after);
        console.log(name, grade, deals);
      },
    }),
    defineHandler({ name: 'untyped', on: ['crm.memo.created'], handle: ({ data }) => console.log(data.after['text']) }),
  ];`;

/** What the compiler says of these files, next to our sources so that it finds the package. */
async function complaints(handler: string, types: string): Promise<string[]> {
  const folder = await mkdtemp(join(ROOT, 'test', 'own-types-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = [join(folder, 'handler.ts'), join(folder, 'records.d.ts')];
  await Promise.all([writeFile(files[0]!, handler), writeFile(files[1]!, types)]);
  const program = ts.createProgram(files, {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules', '@types')],
    paths: { 'crm-changefeed': [join(ROOT, 'src', 'index.ts')] },
  });
  return files
    .map((file) => program.getSourceFile(file))
    .flatMap((file) => ts.getPreEmitDiagnostics(program, file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

describe('schema --types: own records in handlers', () => {
  const of = (form: string) => [{ form, rows: 4 }];
  const people = {
    rows: 4,
    fields: [
      { field: 'id', share: 1, forms: of('string') },
      { field: '이름', share: 1, forms: of('string') },
      { field: '등급', share: 0.5, forms: [...of('string'), ...of('null')] },
      { field: '딜 개수', share: 1, forms: of('number') },
    ],
  };
  const types = typesFile([
    { list: 'people', schema: people },
    { list: 'memo', schema: { rows: 0, fields: [] } },
  ]);

  it(
    'schema --types: a handler has the fields of the workspace, and a mistyped one is refused',
    { timeout: 240_000 },
    async () => {
      expect(types).toContain(
        "declare module 'crm-changefeed' {\n  interface CrmRecords {\n    person: Person;\n  }\n}",
      );
      expect(await complaints(HANDLER, types)).toEqual([]);
      const wrong = await complaints(HANDLER.replace('data.after.이름', 'data.after.이룸'), types);
      expect(wrong.join(' ')).toContain("Property '이룸' does not exist");
      // The control: without the file, a field is unknown.
      expect(await complaints(HANDLER, 'export {};')).not.toEqual([]);
    },
  );
});
