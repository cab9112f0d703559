/**
 * A Kafka broker with one topic of three partitions, in memory: ApiVersions, Metadata, InitProducerId and Produce, in the highest versions that kafkajs
 * speaks (https://kafka.apache.org/protocol). It reads record batches itself, and holds the sequence of each producer as a broker does.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

const API = { produce: 0, metadata: 3, apiVersions: 18, initProducerId: 22 } as const;
const VERSIONS = { [API.produce]: 7, [API.metadata]: 6, [API.apiVersions]: 2, [API.initProducerId]: 1 };
export const ERRORS = { none: 0, unknownTopic: 3, tooLarge: 10, notAuthorised: 29, outOfOrder: 45 } as const;
const PARTITIONS = 3;

export interface KafkaMessage {
  partition: number;
  key: string;
  value: string;
  headers: Readonly<Record<string, string>>;
}

class Reader {
  #at = 0;
  constructor(readonly bytes: Buffer) {}
  #take(size: number): number {
    this.#at += size;
    return this.#at - size;
  }
  int = (size: 1 | 2 | 4): number => this.bytes.readIntBE(this.#take(size), size);
  long = (): bigint => this.bytes.readBigInt64BE(this.#take(8));
  take = (size: number): Buffer => this.bytes.subarray(this.#take(Math.max(0, size)), this.#at);
  text = (): string => this.take(this.int(2)).toString('utf8');
  array = <Item>(item: () => Item): Item[] => Array.from({ length: this.int(4) }, item);
  varint(): number {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = BigInt(this.bytes.readUInt8(this.#take(1)));
      value |= (byte & 127n) << shift;
      if (byte < 128n) return Number((value >> 1n) ^ -(value & 1n));
      shift += 7n;
    }
  }
  short = (): string => this.take(this.varint()).toString('utf8');
}

const int = (size: 1 | 2 | 4, value: number): Buffer => {
  const bytes = Buffer.alloc(size);
  bytes.writeIntBE(value, 0, size);
  return bytes;
};
const long = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
};
const text = (value: string): Buffer => Buffer.concat([int(2, Buffer.byteLength(value)), Buffer.from(value)]);
const array = (items: readonly Buffer[]): Buffer => Buffer.concat([int(4, items.length), ...items]);

/** @param address where clients are told to connect */
export async function startKafka(topic: string, address: () => { port: number }) {
  const messages: KafkaMessage[] = [];
  const sequences = new Map<string, number>();
  const sockets = new Set<Socket>();
  const state = { error: ERRORS.none as number, producers: 0n };

  function append(partition: number, batch: Reader): number {
    batch.take(8 + 4 + 4 + 1 + 4 + 2 + 4 + 8 + 8);
    const producer = `${batch.long()} ${batch.int(2)} ${partition}`;
    const [first, count] = [batch.int(4), batch.int(4)];
    const expected = sequences.get(producer) ?? 0;
    if (first < expected) return ERRORS.none;
    if (first > expected) return ERRORS.outOfOrder;
    sequences.set(producer, first + count);
    for (let nth = 0; nth < count; nth += 1) {
      for (let skipped = 0; skipped < 4; skipped += 1) batch.varint();
      const [key, value] = [batch.short(), batch.short()];
      const headers = Array.from({ length: batch.varint() }, () => [batch.short(), batch.short()] as const);
      messages.push({ partition, key, value, headers: Object.fromEntries(headers) });
    }
    return ERRORS.none;
  }

  function produce(request: Reader): Buffer {
    request.text();
    request.take(2 + 4);
    const topics = request.array(() => {
      const name = request.text();
      const partitions = request.array(() => {
        const partition = request.int(4);
        const batch = new Reader(request.take(request.int(4)));
        const error = name === topic ? state.error || append(partition, batch) : ERRORS.unknownTopic;
        return Buffer.concat([int(4, partition), int(2, error), long(BigInt(messages.length)), long(-1n), long(0n)]);
      });
      return Buffer.concat([text(name), array(partitions)]);
    });
    return Buffer.concat([array(topics), int(4, 0)]);
  }

  function metadata(request: Reader): Buffer {
    const partitions = Array.from({ length: PARTITIONS }, (_, id) =>
      Buffer.concat([int(2, 0), int(4, id), int(4, 1), array([int(4, 1)]), array([int(4, 1)]), array([])]),
    );
    const topics = request.array(() => {
      const name = request.text();
      const isKnown = name === topic;
      const about = [int(2, isKnown ? ERRORS.none : ERRORS.unknownTopic), text(name), int(1, 0)];
      return Buffer.concat([...about, array(isKnown ? partitions : [])]);
    });
    const broker = Buffer.concat([int(4, 1), text('127.0.0.1'), int(4, address().port), int(2, -1)]);
    return Buffer.concat([int(4, 0), array([broker]), text('fake'), int(4, 1), array(topics)]);
  }

  function answer(api: number, request: Reader): Buffer {
    switch (api) {
      case API.produce:
        return produce(request);
      case API.metadata:
        return metadata(request);
      case API.initProducerId:
        return Buffer.concat([int(4, 0), int(2, 0), long((state.producers += 1n)), int(2, 0)]);
      case API.apiVersions: {
        const known = Object.entries(VERSIONS).map(([key, most]) =>
          Buffer.concat([int(2, Number(key)), int(2, most), int(2, most)]),
        );
        return Buffer.concat([int(2, 0), array(known), int(4, 0)]);
      }
      default:
        throw new Error(`no answer to requests of kind ${api}`);
    }
  }

  const server = createServer((socket) => {
    let received = Buffer.alloc(0);
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    socket.on('data', (part) => {
      received = Buffer.concat([received, part]);
      while (received.length >= 4 && received.length >= 4 + received.readInt32BE()) {
        const request = new Reader(received.subarray(4, 4 + received.readInt32BE()));
        received = received.subarray(4 + received.readInt32BE());
        const [api, version, correlation] = [request.int(2), request.int(2), request.int(4)];
        request.text();
        if (VERSIONS[api as keyof typeof VERSIONS] !== version) throw new Error(`version ${version} of ${api}`);
        const body = Buffer.concat([int(4, correlation), answer(api, request)]);
        socket.write(Buffer.concat([int(4, body.length), body]));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    messages,
    /** What it answers to Produce. */
    fail: (error: number) => void (state.error = error),
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
