import type { WorkerOptions } from 'bullmq';
import { requireOptionalPackage } from '../src/kit/optional-package.js';
import { packageVersion } from '../src/kit/package-version.js';

/** @throws ChangefeedError CF_CONFIG_INVALID when `bullmq-otel` is not installed */
export async function openTelemetry({ telemetry }: { telemetry: boolean }): Promise<WorkerOptions['telemetry']> {
  if (!telemetry) return undefined;
  requireOptionalPackage('bullmq-otel', 'The option telemetry');
  const { BullMQOtel } = await import('bullmq-otel');
  return new BullMQOtel({ tracerName: 'bullmq', meterName: 'bullmq', version: packageVersion(), enableMetrics: true });
}
