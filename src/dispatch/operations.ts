/** What a person does to the fan-out from outside: look after dead letters, send a stretch again. Queues are opened when asked for. */
import { DeadLetters } from './dead-letters.js';
import type { RecordGate } from './ports.js';
import { openQueues, type Queues, type QueuesOptions } from './queues.js';

export interface OperationsOptions extends QueuesOptions {
  gate: RecordGate;
}

export interface Operations {
  readonly deadLetters: DeadLetters;
  close(): Promise<void>;
}

export function createOperations(options: OperationsOptions): Operations {
  let opened: Queues | undefined;
  const queues = (): Queues => (opened ??= openQueues(options));
  return {
    get deadLetters() {
      return new DeadLetters(queues(), options.gate);
    },
    async close() {
      await opened?.close();
    },
  };
}
