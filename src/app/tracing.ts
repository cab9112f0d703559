/** Switches telemetry on where the configuration says so. Otherwise nothing of it is loaded. */
import type { WorkerOptions } from 'bullmq';
import type { Config } from '../config/schema.js';
import type { Log } from '../runtime/log.js';
import { requireOptionalPackage } from '../runtime/optional-package.js';
import { packageVersion } from '../runtime/package-version.js';
import { untraced, type Tracing } from '../runtime/tracing.js';

export interface OpenedTelemetry {
  tracing: Tracing;
  /** What BullMQ itself writes about its queues. */
  queueTelemetry: WorkerOptions['telemetry'];
}

/** @throws ChangefeedError CF_CONFIG_INVALID naming the package that is not installed */
export async function openTelemetry({ telemetry }: Pick<Config, 'telemetry'>, log: Log): Promise<OpenedTelemetry> {
  if (!telemetry.enabled) return { tracing: untraced, queueTelemetry: undefined };
  requireOptionalPackage('@opentelemetry/api', 'The option telemetry');
  const { createOpenTelemetry, hasSdk } = await import('../observability/open-telemetry.js');
  if (!hasSdk())
    log.warn(
      {},
      'telemetry is on, but no OpenTelemetry SDK is set up, so nothing is recorded: set one up before Changefeed starts (node --import)',
    );
  const version = packageVersion();
  return {
    tracing: createOpenTelemetry({ version }),
    queueTelemetry: telemetry.queues ? await openQueueTelemetry(version) : undefined,
  };
}

async function openQueueTelemetry(version: string): Promise<WorkerOptions['telemetry']> {
  requireOptionalPackage('bullmq-otel', 'The option telemetry.queues');
  const { BullMQOtel } = await import('bullmq-otel');
  return new BullMQOtel({ tracerName: 'bullmq', meterName: 'bullmq', version, enableMetrics: true });
}
