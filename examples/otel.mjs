// Sets up OpenTelemetry for Changefeed: traces go to OTEL_EXPORTER_OTLP_ENDPOINT, http://localhost:4318 unless it is set.
// Needs: npm install @opentelemetry/sdk-node @opentelemetry/instrumentation-undici
// Run it with `telemetry: true` in the configuration: NODE_OPTIONS='--import ./examples/otel.mjs' npx changefeed start
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { NodeSDK } from '@opentelemetry/sdk-node';

const sdk = new NodeSDK({
  serviceName: process.env['OTEL_SERVICE_NAME'] ?? 'changefeed',
  // The requests to the CRM, and those of webhooks.
  instrumentations: [
    new UndiciInstrumentation({
      // Not the address of a webhook in the spans: it may contain a secret.
      startSpanHook: ({ origin, path }) => ({ 'url.full': origin + path.split('?')[0], 'url.query': '' }),
    }),
  ],
});
// Changefeed itself hands over the last spans when it stops.
sdk.start();
