/** What is sent to the person in charge: who it is, the part of a digest that is theirs, and several sendings as one delivery. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { personOf, type PersonInCharge } from '../../events/person-in-charge.js';
import type { ChangeEvent } from '../../events/types.js';
import { isPermanent } from './errors.js';
import type { DigestContext, DigestSummary, HandleResult } from './handler.js';
import { addressesOf, mailAddress, type People, type PersonAddresses } from './people.js';
import { DigestSums } from './summary.js';

export const IN_CHARGE = 'person-in-charge';
/** What `to` may be besides addresses. */
export const inCharge = z.literal(IN_CHARGE);

export const otherwiseShape = {
  /**
   * With `to: 'person-in-charge'`: the address for records without a person in charge, and for people who are not in `people`.
   * @defaultValue nothing is sent, and the receipt says so
   */
  otherwise: mailAddress.optional(),
};

export const NOBODY = { skipped: 'no-address' } as const;

interface Directory {
  /** Which of a person's addresses counts. */
  addressIn: (addresses: PersonAddresses) => string | undefined;
  otherwise: string | undefined;
  people: People;
}

/** @returns undefined where there is none, and no other one is given */
export function addressFor(person: PersonInCharge | null, directory: Directory): string | undefined {
  const found = person && addressesOf(person, directory.people);
  return (found && directory.addressIn(found)) ?? directory.otherwise;
}

export interface Part {
  /** Tells the parts of one digest apart, and says no address. */
  key: string;
  address: string;
  digest: DigestSummary;
}

/** A part for each address, in the order in which the digest names them. `leftOut`: events for which there is no address. */
export async function partsOf(
  digest: DigestSummary,
  directory: Directory,
): Promise<{ parts: Part[]; leftOut: number }> {
  const { id, workspace, from, to, link } = digest;
  const byAddress = new Map<string, DigestSums>();
  let leftOut = 0;
  for await (const event of digest.events()) {
    const address = addressFor(personOf(event), directory);
    if (address === undefined) {
      leftOut += 1;
      continue;
    }
    const sums = byAddress.get(address) ?? new DigestSums();
    byAddress.set(address, sums);
    sums.add({ logId: to.logId, event });
  }
  const parts = [...byAddress].map(([address, sums]) => {
    const events = (): AsyncIterable<ChangeEvent> => eventsFor(address, digest, directory);
    const summary = sums.summary({ workspace, events, linkOf: () => link });
    const key = keyOf(address);
    return { key, address, digest: { ...summary, from, to, id: `${id}.${key}` } };
  });
  return { parts, leftOut };
}

/** Logs name it. */
export function keyOf(address: string): string {
  return createHash('sha256').update(address).digest('hex').slice(0, 16);
}

async function* eventsFor(address: string, digest: DigestSummary, directory: Directory): AsyncGenerator<ChangeEvent> {
  for await (const event of digest.events()) if (addressFor(personOf(event), directory) === address) yield event;
}

export interface Sending {
  /** Of the effect: each one is sent once, however often the delivery is attempted. */
  key: string;
  send: () => Promise<{ status: number }>;
}

interface Sent {
  status?: number;
  /** What will not be accepted, however often it is sent. */
  refused: unknown[];
}

/**
 * All of them are tried. What was sent is not sent again at a later attempt, but with a replay, which is asked for.
 * @throws what may succeed at a later attempt
 */
export async function sendAll(
  sendings: readonly Sending[],
  context: DigestContext & { replay?: boolean },
): Promise<Sent> {
  const [only, ...more] = sendings;
  if (only !== undefined && more.length === 0) return { ...(await only.send()), refused: [] };
  const sent: Sent = { refused: [] };
  const failed: unknown[] = [];
  for (const { key, send } of sendings) {
    context.signal.throwIfAborted();
    const effect = async (): Promise<void> => void (sent.status = (await send()).status);
    try {
      if (context.replay === true) await effect();
      // Twice rather than never: after a crash its end is not known, and a mail has the same Message-ID.
      else if ((await context.once(`sent to ${key}`, effect)) === 'unknown')
        await context.once(`sent again to ${key}`, effect);
    } catch (error) {
      (isPermanent(error) ? sent.refused : failed).push(error);
    }
  }
  if (failed.length > 0) throw failed[0];
  if (sent.refused.length === sendings.length) throw sent.refused[0];
  return sent;
}

/** One refused part must not have the others sent again with the next digest: the receipt says it. */
export async function sendParts(
  { parts, leftOut }: { parts: readonly Part[]; leftOut: number },
  context: DigestContext,
  send: (part: Part) => Promise<{ status: number }>,
): Promise<HandleResult> {
  if (parts.length === 0) return NOBODY;
  const sendings = parts.map((part) => ({ key: part.key, send: () => send(part) }));
  const { status, refused } = await sendAll(sendings, context);
  const words = [
    ...(leftOut > 0
      ? [`${leftOut} ${leftOut === 1 ? 'event' : 'events'} without an address of the person in charge`]
      : []),
    ...(refused.length > 0 ? [`${refused.length} of ${parts.length} recipients refused`] : []),
  ].join('; ');
  if (words !== '') context.log.warn({ leftOut, refused: refused.length }, 'digest not sent to all people in charge');
  return { ...(status !== undefined && { status }), ...(words !== '' && { words }) };
}
