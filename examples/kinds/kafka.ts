// A kind of handler: every event as a message of a Kafka topic. Run it as examples/kinds/changefeed.config.json does. Needs: npm install kafkajs zod
//
// The key is the record's id, so the events of a record are in one partition, in their order. The producer is idempotent: a request that the client
// sends again is stored once. An attempt that Changefeed repeats is a second message with the same header "ce_id".
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Kafka, logLevel, Partitioners, type Producer, type SASLOptions } from 'kafkajs';
import { z } from 'zod';
import { defineKind, kindOptions, secret, type DeliveryFailure } from 'crm-changefeed';

const A_BROKER = "an array of brokers, such as ['kafka-1.acme.example:9093']";

const broker = z.string().regex(/^[^\s:/]+:\d{1,5}$/, { error: A_BROKER });
const mechanism = z.enum(['plain', 'scram-sha-256', 'scram-sha-512']);
const A_LOGIN = 'an object with mechanism, username and password';

export const kafka = defineKind({
  name: 'kafka',
  words: { en: 'Kafka topic', ko: '카프카 토픽' },
  options: kindOptions({
    /** Brokers to begin with: `host:port`. */
    brokers: z.array(broker, { error: A_BROKER }).min(1, { error: A_BROKER }),
    topic: z.string().regex(/^[\w.-]{1,249}$/, { error: 'the name of a topic' }),
    /** TLS, as brokers of a cloud need it. @defaultValue false */
    tls: z.boolean({ error: 'true or false' }).default(false),
    sasl: secret(
      z.strictObject({ mechanism, username: z.string(), password: z.string() }, { error: A_LOGIN }).optional(),
    ),
  }),

  open({ name, brokers, topic, tls, sasl, timeout }) {
    const open = { sockets: new Set<Socket>(), isClosed: false };
    const client = clientOf({ name, brokers, tls, sasl, timeout }, open);
    let producer: Promise<Producer> | undefined;
    const cut = (): void => open.sockets.forEach((socket) => socket.destroy());

    /** What a failed producer has sent is not known: the next one has an id of its own, and its sequence begins anew. */
    async function forget(): Promise<void> {
      const former = producer;
      producer = undefined;
      cut();
      await former?.then((made) => made.disconnect()).catch(() => undefined);
    }

    return {
      async deliver(event, { signal }) {
        signal.throwIfAborted();
        signal.addEventListener('abort', cut, { once: true });
        try {
          const headers = { ce_id: event.id, ce_type: event.type, ce_source: event.source, ce_specversion: '1.0' };
          const made = await (producer ??= producerOf(client));
          signal.throwIfAborted();
          await made.send({
            topic,
            acks: -1,
            timeout,
            messages: [{ key: event.subject, value: JSON.stringify(event), headers }],
          });
        } catch (error) {
          await forget();
          throw error;
        } finally {
          signal.removeEventListener('abort', cut);
        }
      },
      failure: (thrown) => failureOf(thrown, topic),
      async reach() {
        const place = `${brokers.join(',')}/${topic}`;
        const admin = client.admin();
        try {
          await admin.connect();
          await admin.fetchTopicMetadata({ topics: [topic] });
          return { place, problem: null };
        } catch (error) {
          return {
            place,
            problem: `Kafka "${name}": ${failureOf(error, topic).message}`,
            remedy: 'Correct brokers, topic, tls or sasl.',
          };
        } finally {
          await admin.disconnect().catch(() => undefined);
        }
      },
      async close() {
        open.isClosed = true;
        await forget();
      },
    };
  },
});

interface ClientOptions {
  name: string;
  brokers: string[];
  tls: boolean;
  sasl: SASLOptions | undefined;
  timeout: number;
}

/** The client has no AbortSignal, and waits for answers before it disconnects: its sockets are ours to end. */
function clientOf(
  { name, brokers, tls, sasl, timeout }: ClientOptions,
  open: { sockets: Set<Socket>; isClosed: boolean },
) {
  return new Kafka({
    ...{ clientId: `changefeed-${name}`, brokers, logLevel: logLevel.NOTHING },
    ...{ ...(tls && { ssl: true }), ...(sasl && { sasl }) },
    ...{ connectionTimeout: Math.min(timeout, 10_000), requestTimeout: timeout, enforceRequestTimeout: true },
    // Changefeed repeats what fails, and knows for how long.
    retry: { retries: 1, initialRetryTime: 50, maxRetryTime: 200 },
    socketFactory({ host, port, onConnect }) {
      if (open.isClosed) throw new Error('closed');
      const target = { host, port, ...(isIP(host) === 0 && { servername: host }) };
      const socket = tls ? connectTls(target, onConnect) : connectPlain(target, onConnect);
      open.sockets.add(socket);
      return socket.once('close', () => open.sockets.delete(socket));
    },
  });
}

async function producerOf(client: Kafka): Promise<Producer> {
  const options = { idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false };
  const producer = client.producer({ ...options, createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  return producer;
}

/** Of the record itself: it is as large at the next attempt. */
const OF_THE_RECORD = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD'];

/** By the name of the error at Kafka, or of the connection. Its own message is not shown. */
function failureOf(thrown: unknown, topic: string): DeliveryFailure {
  const all: { type?: string; code?: unknown; name?: string }[] = [];
  for (let error = thrown; error instanceof Error; error = error.cause) all.push(error);
  const type = all.map((error) => error.type).find((one) => one !== undefined);
  if (type !== undefined && OF_THE_RECORD.includes(type))
    return {
      then: 'dead',
      message: `the topic ${topic} does not take the event (${type}); raise max.message.bytes, or send less (transform).`,
    };
  if (type !== undefined) return { message: `the topic ${topic} did not take the event (${type}).` };
  const code = all.map((error) => error.code).find((one) => typeof one === 'string');
  return { message: `the brokers could not be reached (${code ?? all.at(-1)?.name ?? 'unknown error'}).` };
}
