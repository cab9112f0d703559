/** Keeps one running part per subscription, such as its readers or its worker, while the set of subscriptions changes. */
import type { Subscription } from '../handlers/handler.js';
import { Turns } from '../runtime/turns.js';

interface SubscriptionPart {
  readonly subscription: Subscription;
  start(): Promise<void>;
  /** Resolves when it has ended, however long that takes. */
  stop(): Promise<void>;
}

export function keepParts<Part extends SubscriptionPart>(create: (subscription: Subscription) => Part) {
  const parts = new Map<string, Part>();
  let hasEnded = false;
  const turns = new Turns();
  const change = async (name: string, next: Subscription | undefined): Promise<void> => {
    const part = parts.get(name);
    if (part?.subscription === next) return;
    await part?.stop();
    if (hasEnded) return;
    parts.delete(name);
    if (next === undefined) return;
    const created = create(next);
    parts.set(name, created);
    await created.start();
  };
  return {
    /**
     * Replaces the set of subscriptions. One that is the same object as before is not restarted, and none waits for another. Resolves when the
     * parts of removed ones have stopped and those of new ones have started.
     */
    apply: (subscriptions: readonly Subscription[]): Promise<void> =>
      turns.take('apply', async () => {
        const wanted = new Map(subscriptions.map((one) => [one.name, one]));
        const names = new Set([...wanted.keys(), ...parts.keys()]);
        await Promise.all([...names].map((name) => change(name, wanted.get(name))));
      }),
    /** From now on, none is started. Returns those that run or are being stopped. */
    end(): readonly Part[] {
      hasEnded = true;
      return [...parts.values()];
    },
  };
}
