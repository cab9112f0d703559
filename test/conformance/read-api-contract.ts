/**
 * What any server of the read API must do, as one table of requests: run against the sandbox, against whatever else
 * serves the interface, and against a server named by the environment.
 */
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { LIST_NAMES, OBJECT_OF, PATH_OF, type ListName } from '../../src/events/lists.js';
import { LIST_KEY } from '../../src/server/read-api/envelope.js';
import { FIELDS } from '../../src/server/read-api/fields.js';
import { openApiDocument } from '../../src/server/read-api/openapi.js';
import { get, readPage, walk, type Fields, type Got, type Target } from '../support/read-api.js';

export interface ContractOptions {
  /** Called once; the target must hold at least one record in each list, and stand still. */
  open: () => Promise<Target>;
  /** Ours answer every open point in a known way; of a foreign server only what is written is asked. */
  strict: boolean;
}

interface Asked {
  name: string;
  path: string;
  headers?: Record<string, string>;
  token?: string;
  check: (got: Got) => void;
}

export function readApiContract(name: string, { open, strict }: ContractOptions): void {
  describe(`${name} serves the read API`, () => {
    let target: Target;
    beforeAll(async () => {
      target = await open();
    });

    test.each(strict ? [...WRITTEN, ...OURS] : WRITTEN)('$name', async ({ path, headers, token, check }) => {
      check(await get({ ...target, token: token ?? target.token }, path, headers));
    });

    test.each(LIST_NAMES)(
      '%s: a walk ends, shows every record once, and every written field by its name',
      async (list) => {
        const records = await walk(target, list);
        expect(records.length).toBeGreaterThan(0);
        expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
        const written = FIELDS[list].filter(({ from }) => from === 'written').map(({ name: field }) => field);
        const seen = new Set(records.flatMap((record) => Object.keys(record)));
        expect([...seen]).toEqual(expect.arrayContaining(strict ? written : ['id']));
      },
    );

    test.each(LIST_NAMES)('%s: the cursor of a page leads to other records', async (list) => {
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
        expect(await response.text()).not.toContain(LIST_KEY.people);
      },
    );
  });
}

const WRITTEN: readonly Asked[] = [
  ...LIST_NAMES.flatMap((list): Asked[] => [
    {
      name: `GET ${PATH_OF[list]}: the envelope of section 4, as the OpenAPI document has it`,
      path: PATH_OF[list],
      check: isPageOf(list),
    },
    {
      name: `GET ${PATH_OF[list]}: an unknown parameter is ignored`,
      path: `${PATH_OF[list]}?limit=abc`,
      check: isPageOf(list),
    },
    {
      name: `GET ${PATH_OF[list]}: a wrong token shows nothing`,
      path: PATH_OF[list],
      token: 'not-a-token',
      check: isRefused(list),
    },
    {
      name: `GET ${PATH_OF[list]}: a bad cursor gets a page or a failure`,
      path: `${PATH_OF[list]}?cursor=no-such-cursor`,
      check: isPageOrFailure(list),
    },
  ]),
];

const OURS: readonly Asked[] = [
  ...LIST_NAMES.map((list): Asked => ({
    name: `GET ${PATH_OF[list]}: an empty cursor is the first page`,
    path: `${PATH_OF[list]}?cursor=`,
    check: isPageOf(list),
  })),
  ...LIST_NAMES.map((list): Asked => ({
    name: `GET ${PATH_OF[list]}: without the header of section 5 it is refused`,
    path: PATH_OF[list],
    headers: { 'Content-Type': 'text/plain' },
    check: (got) => expect(failure(got)).toMatchObject({ status: 400, success: false }),
  })),
  {
    name: 'no token at all',
    path: 'v2/people',
    headers: { Authorization: '' },
    check: (got) => expect(failure(got).status).toBe(401),
  },
  {
    name: 'another scheme than Bearer',
    path: 'v2/people',
    headers: { Authorization: 'Basic eDp5' },
    check: (got) => expect(failure(got).status).toBe(401),
  },
  { name: 'an unknown path under /v2', path: 'v2/deal', check: ({ status }) => expect(status).toBe(404) },
  { name: 'an unknown version', path: 'v3/people', check: ({ status }) => expect(status).toBe(404) },
  {
    name: 'the OpenAPI document, without a token',
    path: 'openapi.json',
    headers: { Authorization: '' },
    check: isDocument,
  },
];

const ajv = new Ajv2020.Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'api', ...openApiDocument() });

const schemaName = (list: ListName): string =>
  OBJECT_OF[list].replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());

function schema(name: string): ValidateFunction {
  return ajv.getSchema(`api#/components/schemas/${name}`) ?? ajv.compile({ $ref: `api#/components/schemas/${name}` });
}

function isPageOf(list: ListName) {
  return ({ status, headers, text }: Got): void => {
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const validate = schema(`${schemaName(list)}Page`);
    validate(JSON.parse(text));
    expect(validate.errors).toBeNull();
  };
}

function failure({ status, text }: Got): { status: number; success: unknown; message: unknown } {
  const body = JSON.parse(text) as { success: unknown; message: unknown };
  const validate = schema('Failure');
  validate(body);
  expect(validate.errors).toBeNull();
  return { status, ...body };
}

/** Section 7 writes the body for people and organizations only. */
function isRefused(list: ListName) {
  return (got: Got): void => {
    expect(got.text).not.toContain(`"${LIST_KEY[list]}"`);
    if (list === 'people' || list === 'organization') expect(failure(got).success).toBe(false);
    else expect(got.status === 200 && got.text.includes('"success":true')).toBe(false);
  };
}

function isPageOrFailure(list: ListName) {
  return (got: Got): void => {
    if (got.status === 200 && got.text.includes('"success":true')) isPageOf(list)(got);
    else isRefused(list)(got);
  };
}

function isDocument({ status, text }: Got): void {
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual(openApiDocument());
}
