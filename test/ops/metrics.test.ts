/** The metric table, and everything in the project that names metrics. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { METRICS, QUEUE_METRIC, type MetricDefinition } from '../../src/ops/watch/metric-table.js';
import { operationsPage } from '../../.ci/docs/metrics.js';

interface Dashboard {
  panels: {
    id: number;
    type: string;
    title: string;
    description?: string;
    targets?: { expr: string; legendFormat: string }[];
  }[];
}
interface Alerts {
  groups: {
    rules: {
      alert: string;
      expr: string;
      for?: string;
      labels: { severity: string };
      annotations: { summary: string; description: string; runbook_url: string };
    }[];
  }[];
}

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\d -]/gu, '')
    .replaceAll(' ', '-');

/** Of prom-client's default metrics: those that we use. */
const OF_THE_PROCESS = [
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_eventloop_lag_p99_seconds',
];
/** Added by Prometheus when it scrapes. */
const OF_THE_TARGET = ['job', 'instance'];

const known = new Map<string, readonly string[]>([
  ...Object.entries<MetricDefinition>(METRICS).flatMap(([name, { type, labels }]): [string, readonly string[]][] =>
    type === 'histogram'
      ? ['_bucket', '_sum', '_count'].map((end) => [`${name}${end}`, end === '_bucket' ? [...labels, 'le'] : labels])
      : [[name, labels]],
  ),
  [QUEUE_METRIC, ['queue', 'state']],
  ...OF_THE_PROCESS.map((name): [string, readonly string[]] => [name, []]),
]);

/** What an expression names that does not exist: metrics, and labels of all its metrics together. */
function unknownIn(expr: string): string[] {
  const names = namesIn(expr);
  const labels = names.flatMap((name) => known.get(name) ?? []);
  const used = [
    ...[...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside = '']) =>
      [...inside.matchAll(/([a-z_]+)\s*(?:=~|!=|!~|=)/g)].map(([, label = '']) => label),
    ),
    ...[...expr.matchAll(/\b(?:by|on|without)\s*\(([^)]*)\)/g)].flatMap(([, inside = '']) =>
      inside.split(',').map((label) => label.trim()),
    ),
  ];
  return [
    ...names.filter((name) => !known.has(name)),
    ...used.filter((label) => !labels.includes(label) && !OF_THE_TARGET.includes(label)),
  ];
}

function namesIn(expr: string): string[] {
  return expr.match(/\b(?:changefeed|bullmq|process|nodejs)_[a-z0-9_]+/g) ?? [];
}

async function fileIn(path: string): Promise<string> {
  return await readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
}

describe('metrics', () => {
  it('metrics: the table in docs/operations.md matches the code (npx vitest run test/ops/metrics.test.ts -u updates it)', async () => {
    await expect(await operationsPage()).toMatchFileSnapshot('../../docs/operations.md');
  });

  it('metrics: counters, units and buckets follow the rules of Prometheus', () => {
    for (const [name, { type, buckets }] of Object.entries<MetricDefinition>(METRICS)) {
      expect({ name, ends: name.endsWith('_total') }).toEqual({ name, ends: type === 'counter' });
      expect({ name, buckets: buckets !== undefined }).toEqual({ name, buckets: type === 'histogram' });
      expect({ name, unit: /_ms$|milliseconds/.test(name) }).toEqual({ name, unit: false });
    }
  });

  it('metrics: the dashboard names only metrics and labels that exist, and shows every metric', async () => {
    const { panels } = JSON.parse(await fileIn('ops/grafana-dashboard.json')) as Dashboard;
    const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(exprs.flatMap(unknownIn)).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(panels.filter(({ type, description = '' }) => type !== 'row' && description === '')).toEqual([]);
    const shown = new Set(exprs.flatMap(namesIn));
    const missing = Object.entries<MetricDefinition>(METRICS).filter(
      ([name, { type }]) => !shown.has(type === 'histogram' ? `${name}_bucket` : name),
    );
    expect(missing.map(([name]) => name)).toEqual([]);
    const legends = panels.flatMap(({ targets = [] }) => targets);
    const badLegends = legends.filter(({ expr, legendFormat }) =>
      [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].some(([, label = '']) => !expr.includes(label)),
    );
    expect(badLegends).toEqual([]);
  });

  it('metrics: the alerts name only metrics and labels that exist, and say what to do', async () => {
    const { groups } = parse(await fileIn('ops/alerts.yml')) as Alerts;
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    const headings = new Set((await fileIn('docs/operations.md')).match(/(?<=^#+ ).+$/gm)?.map(anchorOf));
    for (const { alert, labels, annotations, for: lasting = '1m' } of rules) {
      const [, anchor = ''] = annotations.runbook_url.split('docs/operations.md#');
      expect({ alert, hasRunbook: headings.has(anchor) }).toEqual({ alert, hasRunbook: true });
      expect({ alert, severity: ['critical', 'warning'].includes(labels.severity) }).toEqual({ alert, severity: true });
      expect({ alert, lasting: /^\d+[smh]$/.test(lasting) }).toEqual({ alert, lasting: true });
      expect({ alert, says: annotations.summary !== '' && annotations.description.length > 40 }).toEqual({
        alert,
        says: true,
      });
    }
  });

  it('metrics: a metric or label that does not exist is found (control)', () => {
    expect(unknownIn('max by (lists) (changefeed_list_age_second{workspace="a"})')).toEqual([
      'changefeed_list_age_second',
      'workspace',
      'lists',
    ]);
    expect(unknownIn('sum by (le) (rate(changefeed_handler_duration_seconds_bucket{list="a"}[5m]))')).toEqual(['list']);
  });
});
