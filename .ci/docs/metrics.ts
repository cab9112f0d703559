/** docs/operations.md with the metric table that the code describes. */
import { readFile } from 'node:fs/promises';
import { METRICS, type MetricDefinition } from '../../src/ops/watch/metric-table.js';
import { table } from './markdown.js';

const PAGE = new URL('../../docs/operations.md', import.meta.url);
const [BEGIN, END] = ['<!-- metrics: generated -->\n', '<!-- end of metrics -->\n'];

export async function operationsPage(): Promise<string> {
  const page = await readFile(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  return [before, BEGIN, metricTable(), END, after].join('');
}

function metricTable(): string {
  const rows = Object.entries<MetricDefinition>(METRICS).map(([name, { type, labels, by, help }]) => {
    const shown = labels.length === 0 ? '' : `{${labels.join(', ')}}`;
    return [`\`${name}${shown}\``, type, by, help];
  });
  return `\n${table(['metric', 'type', 'known by', 'meaning'], rows)}\n\n`;
}
