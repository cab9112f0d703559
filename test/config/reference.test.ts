import { describe, expect, it } from 'vitest';
import {
  allowedBy,
  configurationPage,
  docsOf,
  isObject,
  read,
  SECTIONS,
  WEBHOOK,
} from '../../.ci/docs/configuration.js';
import type { OptionDoc } from '../../.ci/docs/options.js';

describe('configuration page', () => {
  it('configuration page: matches the code (npx vitest run test/config/reference.test.ts -u updates it)', async () => {
    await expect(configurationPage()).toMatchFileSnapshot('../../docs/configuration.md');
  });

  it('configuration page: every option has a meaning, and a default unless it is required', () => {
    const silent = SECTIONS.flatMap((section) =>
      docsOf(section)
        .filter((doc) => !isExplained(doc, allowedBy(section, doc)))
        .map(({ name }) => `${section.title} ${name}`),
    );
    expect(silent).toEqual([]);
  });

  it('configuration page: a stated default written into a configuration changes nothing', () => {
    let checked = 0;
    for (const { around, ...section } of SECTIONS) {
      const plain = JSON.stringify(read(around({})));
      for (const { name, defaultValue } of docsOf({ around, ...section })) {
        const value = literal(defaultValue);
        if (value === undefined) continue;
        checked += 1;
        expect({ name, config: JSON.stringify(read(around({ [name]: value }))) }).toEqual({ name, config: plain });
      }
    }
    expect(checked).toBeGreaterThanOrEqual(18);
  });

  it('configuration page: states the defaults of retry for webhooks', () => {
    const retry = SECTIONS.find(({ name }) => name === 'retryOptions')!;
    const stated = docsOf(retry).map(({ name, defaultValue }) => [name, literal(defaultValue.split('webhook ')[1]!)]);
    const asStated = { ...WEBHOOK, retry: Object.fromEntries(stated) as object };
    const around = (subscription: object) =>
      JSON.stringify(read(SECTIONS[0]!.around({ subscriptions: [subscription] })));
    expect(around(asStated)).toBe(around(WEBHOOK));
  });
});

function isExplained({ meaning, required, defaultValue }: OptionDoc, allowed: string): boolean {
  return meaning !== '' && (required || defaultValue !== '' || isObject(allowed));
}

/** `'30s'`, `10`, `true`, `['crm.*']`; undefined where the default is described in words. */
function literal(text: string): unknown {
  const [first = ''] = text.split(';');
  try {
    return JSON.parse(first.replaceAll("'", '"')) as unknown;
  } catch {
    return undefined;
  }
}
