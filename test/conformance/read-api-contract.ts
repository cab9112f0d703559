/**
 * The contract of the read API as a table of requests. It runs against the sandbox, the mirror, and a server named by the
 * environment.
 */
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { fieldsOf } from '../../src/crm/known-fields.js';
import { SIX_LISTS, type ServedList } from '../../src/ops/server/read-api/lists.js';
import { createReadApiServer } from '../../src/ops/server/read-api/server.js';
import { get, readPage, walk, type Fields, type Got, type Target } from '../support/read-api.js';

export interface ContractOptions {
  /** Called once. The target must have at least one record in each list and must not change. */
  open: () => Promise<Target>;
  /** True for our own servers, which answer every open point in a known way; false tests only what the interface says. */
  strict: boolean;
  lists?: readonly ServedList[];
}

interface Asked {
  name: string;
  path: string;
  headers?: Record<string, string>;
  token?: string;
  check: (got: Got, document: object) => void;
}

export function readApiContract(
  name: string,
  { open, strict, lists = Object.values(SIX_LISTS) }: ContractOptions,
): void {
  const requests = strict ? [...writtenFor(lists), ...openPointsFor(lists)] : writtenFor(lists);
  describe(`read API contract: ${name}`, () => {
    let target: Target;
    let document: object;
    beforeAll(async () => {
      target = await open();
      document = await documentOf(lists);
    });

    test.each(requests)('$name', async ({ path, headers, token, check }) => {
      check(await get({ ...target, token: token ?? target.token }, path, headers), document);
    });

    test.each(lists)(
      '$name: a walk ends, shows every record once, and every written field by its name',
      async (list) => {
        const records = await walk(target, list);
        expect(records.length).toBeGreaterThan(0);
        expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
        const written = fieldsOf(list.name)
          .filter(({ from }) => from === 'written')
          .map(({ name: field }) => field);
        const seen = new Set(records.flatMap((record) => Object.keys(record)));
        expect([...seen]).toEqual(expect.arrayContaining(strict ? written : ['id']));
      },
    );

    test.each(lists)('$name: the cursor of a page leads to other records', async (list) => {
      const first = await readPage(target, list);
      const ids = new Set(first.records.map(({ id }) => id));
      const second: Fields[] = first.nextCursor ? (await readPage(target, list, first.nextCursor)).records : [];
      expect(second.filter(({ id }) => ids.has(id))).toEqual([]);
    });

    test.each(strict ? ['POST', 'PUT', 'DELETE', 'PATCH'] : ['DELETE'])(
      '%s changes nothing and shows nothing',
      async (method) => {
        const headers = { Authorization: `Bearer ${target.token}`, 'Content-Type': 'application/json' };
        const response = await fetch(`${target.url}/v2/people`, {
          method,
          headers,
          ...(method !== 'DELETE' && { body: '{}' }),
        });
        expect(response.ok).toBe(false);
        expect(await response.text()).not.toContain(SIX_LISTS.people.key);
      },
    );
  });
}

const writtenFor = (lists: readonly ServedList[]): Asked[] =>
  lists.flatMap((list): Asked[] => [
    {
      name: `GET ${list.path}: the envelope of section 4, as the OpenAPI document has it`,
      path: list.path,
      check: isPageOf(list),
    },
    {
      name: `GET ${list.path}: an unknown parameter is ignored`,
      path: `${list.path}?limit=abc`,
      check: isPageOf(list),
    },
    {
      name: `GET ${list.path}: a wrong token shows nothing`,
      path: list.path,
      token: 'not-a-token',
      check: isRefused(list),
    },
    {
      name: `GET ${list.path}: a bad cursor gets a page or a failure`,
      path: `${list.path}?cursor=no-such-cursor`,
      check: isPageOrFailure(list),
    },
  ]);

const openPointsFor = (lists: readonly ServedList[]): Asked[] => [
  ...lists.map((list): Asked => ({
    name: `GET ${list.path}: an empty cursor is the first page`,
    path: `${list.path}?cursor=`,
    check: isPageOf(list),
  })),
  ...lists.map((list): Asked => ({
    name: `GET ${list.path}: without the header of section 5 it is refused`,
    path: list.path,
    headers: { 'Content-Type': 'text/plain' },
    check: (got, document) => expect(failure(got, document)).toMatchObject({ status: 400, success: false }),
  })),
  {
    name: 'no token at all',
    path: 'v2/people',
    headers: { Authorization: '' },
    check: (got, document) => expect(failure(got, document).status).toBe(401),
  },
  {
    name: 'another scheme than Bearer',
    path: 'v2/people',
    headers: { Authorization: 'Basic eDp5' },
    check: (got, document) => expect(failure(got, document).status).toBe(401),
  },
  { name: 'an unknown path under /v2', path: 'v2/no-such-list', check: ({ status }) => expect(status).toBe(404) },
  { name: 'an unknown version', path: 'v3/people', check: ({ status }) => expect(status).toBe(404) },
  {
    name: 'the OpenAPI document, without a token',
    path: 'openapi.json',
    headers: { Authorization: '' },
    check: ({ status, text }) => {
      expect(status).toBe(200);
      const { paths } = JSON.parse(text) as { paths: object };
      expect(Object.keys(paths)).toEqual(expect.arrayContaining(lists.map(({ path }) => `/${path}`)));
    },
  },
];

const schemaName = (list: ServedList): string =>
  list.object.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());

async function documentOf(lists: readonly ServedList[]): Promise<object> {
  const server = createReadApiServer({ lists, sources: () => null });
  const url = await server.start();
  const answer = await fetch(`${url}/openapi.json`);
  const document = (await answer.json()) as object;
  await server.stop();
  return document;
}

function schema(name: string, document: object): ValidateFunction {
  const ajv = new Ajv2020.Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'api', ...document });
  return ajv.compile({ $ref: `api#/components/schemas/${name}` });
}

function isPageOf(list: ServedList) {
  return ({ status, headers, text }: Got, document: object): void => {
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const validate = schema(`${schemaName(list)}Page`, document);
    validate(JSON.parse(text));
    expect(validate.errors).toBeNull();
  };
}

function failure({ status, text }: Got, document: object): { status: number; success: unknown; message: unknown } {
  const body = JSON.parse(text) as { success: unknown; message: unknown };
  const validate = schema('Failure', document);
  validate(body);
  expect(validate.errors).toBeNull();
  return { status, ...body };
}

/** Section 7 defines the failure body only for people and organizations. */
function isRefused(list: ServedList) {
  return (got: Got, document: object): void => {
    expect(got.text).not.toContain(`"${list.key}"`);
    if (list.name === 'people' || list.name === 'organization') expect(failure(got, document).success).toBe(false);
    else expect(got.status === 200 && got.text.includes('"success":true')).toBe(false);
  };
}

function isPageOrFailure(list: ServedList) {
  return (got: Got, document: object): void => {
    if (got.status === 200 && got.text.includes('"success":true')) isPageOf(list)(got, document);
    else isRefused(list)(got, document);
  };
}
