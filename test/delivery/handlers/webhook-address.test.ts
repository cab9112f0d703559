import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import {
  guardedAgent,
  isAllowHost,
  readAllowHosts,
  refusalOf,
  type Resolve,
} from '../../../src/delivery/handlers/http/guard.js';
import { placeOf } from '../../../src/delivery/handlers/http/endpoint.js';
import { messageSchema } from '../../../src/delivery/handlers/message/message.js';
import { resolving, useReceivers } from '../../support/handler-fixtures.js';

const nothing = readAllowHosts([]);
const METADATA = 'an address where cloud machines keep credentials';

describe('webhook address', () => {
  const REFUSED: readonly (readonly [refusal: string, addresses: readonly string[]])[] = [
    ['in the range "private"', ['10.0.0.1', '172.16.0.1']],
    ['in the range "loopback"', ['127.0.0.1', '::1']],
    [
      METADATA,
      [
        '169.254.169.254',
        '169.254.170.2',
        '100.100.100.200',
        '168.63.129.16',
        'fd00:ec2::254',
        '::ffff:169.254.169.254',
        'fd20:ce::254',
        '192.0.0.192',
      ],
    ],
    ['in the range "carrierGradeNat"', ['100.64.0.1', '100.127.255.255']],
    ['in the range "unspecified"', ['0.0.0.0', '::']],
    ['in the range "multicast"', ['224.0.0.1', 'ff02::1']],
    ['in the range "broadcast"', ['255.255.255.255']],
    ['in the range "reserved"', ['198.18.0.1', '::7f00:1', '3fff::1', '2001:db8::1', '4000::1']],
    ['in the range "linkLocal"', ['fe80::1', 'fe80::1%eth0']],
    ['in the range "uniqueLocal"', ['fd12:3456::1']],
    ['in the range "deprecatedSiteLocal"', ['fec0::1']],
    ['in the range "ipv4Mapped"', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8']],
    ['in the range "rfc6052"', ['64:ff9b::a00:1']],
    ['in the range "6to4"', ['2002:7f00:1::']],
    ['in the range "rfc6145"', ['::ffff:0:127.0.0.1']],
    ['in the range "teredo"', ['2001::7f00:1']],
    ['an address within one network (it has a zone)', ['2606:4700:4700::1111%eth0']],
    ['in the range "segmentRouting"', ['5f00::1']],
    ['in the range "discard"', ['100::1']],
    ['not an address', ['', '0x7f.1', 'hooks.example']],
  ];
  it.each(REFUSED)('webhook address: what is %s is refused: %j', (refusal, addresses) => {
    expect(addresses.map((address) => [address, refusalOf(address, nothing)])).toEqual(
      addresses.map((address) => [address, refusal]),
    );
  });

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'])(
    '%s is none: it is public',
    (address) => {
      expect(refusalOf(address, nothing)).toBeNull();
    },
  );

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.0/8', '127.9.9.9'],
    ['127.0.0.1', '::ffff:127.0.0.1'],
    ['::1', '::1'],
    ['fd00:1::/64', 'fd00:1::5'],
  ])('webhook address: allowHosts %s allows %s', (entry, address) => {
    expect([isAllowHost(entry), refusalOf(address, readAllowHosts([entry]))]).toEqual([true, null]);
  });

  it.each([
    ['169.254.169.254', ['169.254.0.0/16', '0.0.0.0/0']],
    ['100.100.100.200', ['100.64.0.0/10']],
    ['::ffff:169.254.169.254', ['169.254.0.0/16', '::/0']],
    ['fd00:ec2::254', ['fd00::/8']],
    // Of other services of the same clouds.
    ['169.254.170.23', ['169.254.170.0/24']],
    ['169.254.0.23', ['169.254.0.0/16']],
    ['fd00:ec2::23', ['fd00:ec2::/32']],
  ])('webhook address: the metadata address %s stays refused within an allowed range', (address, allowHosts) => {
    expect(refusalOf(address, readAllowHosts(allowHosts))).toBe(METADATA);
    expect(refusalOf(address, readAllowHosts([...allowHosts, address.replace('::ffff:', '')]))).toBeNull();
  });

  it.each([
    'http://a.example',
    'a.example:80',
    'a.example/x',
    '*.example',
    'u@a.example',
    '2130706433',
    '0x7f.1',
    '',
    ' ',
  ])('webhook address: %j is not a valid allowHosts entry', (entry) => {
    expect(isAllowHost(entry)).toBe(false);
  });
});

describe('webhook URL', () => {
  const host = (what: string, name: string): string =>
    `a public host (this is ${what}), unless allowHosts names "${name}"`;
  const plain = 'the address in its plain form, such as 203.0.113.7';
  it.each([
    ['https://127.0.0.1/x', host('in the range "loopback"', '127.0.0.1')],
    ['https://[::1]:8443/x', host('in the range "loopback"', '::1')],
    ['https://[::ffff:10.0.0.1]/', host('in the range "ipv4Mapped"', '::ffff:a00:1')],
    ['https://[fd00:ec2::254]/', host(METADATA, 'fd00:ec2::254')],
    ['https://localhost/x', host('this machine', 'localhost')],
    ['https://LOCALHOST./x', host('this machine', 'localhost.')],
    ['https://api.localhost/x', host('this machine', 'api.localhost')],
    ['https://127.0.0.1./', plain],
    ['https://127。0。0。1/', plain],
    ['https://ⓛocalhost/', host('this machine', 'localhost')],
    ['https://[64:ff9b::7f00:1]/', host('in the range "rfc6052"', '64:ff9b::7f00:1')],
    ['https://[fe80::1%25eth0]/', 'a URL that begins with https://'],
    ['https:hooks.example@127.0.0.1/', 'a URL without user name and password (for a webhook, put them into headers)'],
    ['https://2130706433/', plain],
    ['https://0x7f000001/', plain],
    ['https://0x08.8.8.8/', plain],
    ['https://①②⑦.⓪.⓪.①/', plain],
    ['http://hooks.example/x', 'https (http is not encrypted), unless allowHosts names "hooks.example"'],
    ['http://8.8.8.8/x', 'https (http is not encrypted), unless allowHosts names "8.8.8.8"'],
    ['https://user:pass@hooks.example/', 'a URL without user name and password (for a webhook, put them into headers)'],
    ['ftp://hooks.example/', 'a URL that begins with https://'],
    ['hooks.example', 'a URL that begins with https://'],
    ['', 'a URL that begins with https://'],
  ])('%s is refused', (url, allowed) => {
    const { error } = messageSchema.safeParse({ name: 'chat', url });
    expect(error?.issues).toMatchObject([{ path: ['url'], message: allowed }]);
  });

  it.each([
    ['https://hooks.example/in?key=k#top', [], 'hooks.example/in'],
    ['https://8.8.8.8:8443/in', [], '8.8.8.8:8443/in'],
    ['http://127.0.0.1:3000/in', ['127.0.0.0/8'], '127.0.0.1:3000/in'],
    ['http://hooks.internal/in', ['HOOKS.internal.'], 'hooks.internal/in'],
    ['http://[::1]:3000/in', ['::1'], '[::1]:3000/in'],
    ['http://localhost:3000/in', ['localhost'], 'localhost:3000/in'],
    ['https://훅.example/in', [], 'xn--i18b.example/in'],
    ['https://hooks.example/hooks/catch/123/PATHKEY', [], 'hooks.example/hooks/…'],
    ['https://hooks.example/hooks/', [], 'hooks.example/hooks'],
    ['https://hooks.example/k3y-of-16-letters', [], 'hooks.example/…'],
    ['https://hooks.example/k3y-of-16-letters/in', [], 'hooks.example/…'],
  ])('%s is accepted with allowHosts %j', (url, allowHosts, place) => {
    expect(placeOf(messageSchema.parse({ name: 'chat', url, allowHosts }).url)).toBe(place);
  });
});

describe('a connection', () => {
  const startReceiver = useReceivers();

  async function get(url: string, allowHosts: string[], resolve: Resolve): Promise<number> {
    const agent = guardedAgent({ allowances: readAllowHosts(allowHosts), resolve, timeoutMs: 5_000 });
    try {
      const { statusCode, body } = await request(url, { dispatcher: agent });
      await body.dump();
      return statusCode;
    } finally {
      await agent.destroy();
    }
  }

  it.each(['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.1'])(
    'does not go to the literal address %s, about which sockets ask no resolver',
    async (host) => {
      const receiver = await startReceiver();
      const resolve = resolving(['127.0.0.1']);
      await expect(get(`http://${host}:${receiver.port}/`, [], resolve)).rejects.toMatchObject({
        code: 'CF_ADDRESS_REFUSED',
        message:
          '127.0.0.1 is in the range "loopback": nothing was sent. If this address is intended, add the host or address to allowHosts.',
      });
      expect([receiver.connections(), resolve.asked()]).toEqual([0, 0]);
    },
  );

  it('webhook connection: closes before the first byte when the socket has a forbidden address (0.0.0.0 reaches loopback)', async () => {
    const receiver = await startReceiver(undefined, '0.0.0.0');
    const sending = get(`http://hooks.example:${receiver.port}/`, ['0.0.0.0'], resolving(['0.0.0.0']));
    await expect(sending).rejects.toMatchObject({ code: 'CF_ADDRESS_REFUSED', facts: { address: '127.0.0.1' } });
    expect(receiver.received).toEqual([]);
  });
});
