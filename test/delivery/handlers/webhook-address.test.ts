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

const METADATA = ['169.254.169.254', '100.100.100.200', '::ffff:169.254.169.254', 'fd00:ec2::254'];

/** Addresses, with `allowHosts` behind them, separated by spaces. */
const ADDRESSES = [
  ...['10.0.0.1', '172.16.0.1', '127.0.0.1', '::1', ...METADATA, '169.254.170.2', '168.63.129.16', 'fd20:ce::254'],
  ...['192.0.0.192', '100.64.0.1', '100.127.255.255', '0.0.0.0', '::', '224.0.0.1', 'ff02::1', '255.255.255.255'],
  ...['198.18.0.1', '::7f00:1', '3fff::1', '2001:db8::1', '4000::1', 'fe80::1', 'fe80::1%eth0', 'fd12:3456::1'],
  ...['fec0::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '64:ff9b::a00:1', '2002:7f00:1::'],
  ...['::ffff:0:127.0.0.1', '2001::7f00:1', '2606:4700:4700::1111%eth0', '5f00::1', '100::1', '0x7f.1', 'a.example'],
  ...['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'],
  ...['127.0.0.1 127.0.0.1', '127.9.9.9 127.0.0.0/8', '::ffff:127.0.0.1 127.0.0.1', '::1 ::1', 'fd00:1::5 fd00:1::/64'],
  // Of clouds, which no range allows, but only the address itself.
  ...['169.254.169.254 169.254.0.0/16 0.0.0.0/0', '100.100.100.200 100.64.0.0/10', 'fd00:ec2::254 fd00::/8'],
  ...['::ffff:169.254.169.254 169.254.0.0/16 ::/0', '169.254.170.23 169.254.170.0/24', '169.254.0.23 169.254.0.0/16'],
  ...['fd00:ec2::23 fd00:ec2::/32', ...METADATA.map((one) => `${one} ${one.replace('::ffff:', '')}`)],
];
const ALLOW_HOSTS = [
  ...['http://a.example', 'a.example:80', 'a.example/x', '*.example', 'u@a.example', '2130706433', '0x7f.1', '', ' '],
  ...['a.example', '127.0.0.1', '127.0.0.0/8', '::1', 'fd00:1::/64'],
];
const URLS = [
  ...['https://127.0.0.1/x', 'https://[::1]:8443/x', 'https://[::ffff:10.0.0.1]/', 'https://[fd00:ec2::254]/'],
  ...['https://localhost/x', 'https://LOCALHOST./x', 'https://api.localhost/x', 'https://127.0.0.1./'],
  ...['https://127。0。0。1/', 'https://ⓛocalhost/', 'https://[64:ff9b::7f00:1]/', 'https://[fe80::1%25eth0]/'],
  ...['https:hooks.example@127.0.0.1/', 'https://2130706433/', 'https://0x7f000001/', 'https://0x08.8.8.8/'],
  ...['https://①②⑦.⓪.⓪.①/', 'http://hooks.example/x', 'http://8.8.8.8/x', 'https://user:pass@hooks.example/'],
  ...['ftp://hooks.example/', 'hooks.example', ''],
  ...['https://hooks.example/in?key=k#top', 'https://8.8.8.8:8443/in', 'http://127.0.0.1:3000/in 127.0.0.0/8'],
  ...['http://hooks.internal/in HOOKS.internal.', 'http://[::1]:3000/in ::1', 'http://localhost:3000/in localhost'],
  ...['https://훅.example/in', 'https://hooks.example/hooks/catch/123/PATHKEY', 'https://hooks.example/hooks/'],
  ...['https://hooks.example/k3y-of-16-letters', 'https://hooks.example/k3y-of-16-letters/in'],
];

it('webhook address: what is refused and what is accepted, in which words (-u updates addresses.txt)', async () => {
  const place = (text: string): string => {
    const [url = '', ...allowHosts] = text.split(' ');
    const { data, error } = messageSchema.safeParse({ name: 'chat', url, allowHosts });
    return data === undefined ? `allowed: ${error.issues[0]?.message}` : `accepted, shown as ${placeOf(data.url)}`;
  };
  const refusal = (text: string): string => {
    const [address = '', ...allowHosts] = text.split(' ');
    return refusalOf(address, readAllowHosts(allowHosts)) ?? 'accepted';
  };
  const lines = [
    ...['# addresses', ...ADDRESSES.map((one) => `${one}: ${refusal(one)}`)],
    ...['\n# entries of allowHosts', ...ALLOW_HOSTS.map((one) => `"${one}": ${isAllowHost(one) ? 'valid' : 'none'}`)],
    ...['\n# URLs', ...URLS.map((one) => `"${one}": ${place(one)}`)],
  ];
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./addresses.txt');
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
