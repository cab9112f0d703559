/** Options, handlers and functions of a configuration that were removed, and what to use instead. */
const INSTEAD_OF_DERIVE = 'where on the change, or your own queue by the handler bullmq';

const RETIRED: Readonly<Record<string, string>> = {
  batch: 'concurrency',
  BatchError: 'handle (its error is that of one event)',
  handleBatch: 'handle, with concurrency',
  'telemetry: { … }': 'telemetry: true (what BullMQ records, by the package bullmq-otel)',
  defineDerive: INSTEAD_OF_DERIVE,
  derive: INSTEAD_OF_DERIVE,
  exec: 'a function that calls execFile (docs/guides/automation.md)',
};

/** A part of an error text: what to use in place of `name`. Undefined for a name that was never an option. */
export function retiredText(name: string): string | undefined {
  return Object.hasOwn(RETIRED, name) ? `"${name}" was removed; use ${RETIRED[name]} instead` : undefined;
}
