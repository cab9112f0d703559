/**
 * A rule of the page that a person switches off and on. It gets what is logged while it is on: nothing that was logged in an earlier time, also
 * where that was being sent when it was switched off. How it stores that is not looked at: it is asked by HTTP, and its destination listens.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import inject from 'light-my-request';
import type { Changefeed } from '../../src/actions/feed.js';
import { eventually } from '../support/eventually.js';

const OPERATE = 'operate-token-of-the-rule';
const HEADERS = { authorization: `Bearer ${OPERATE}`, 'content-type': 'application/json', 'x-changefeed-action': '1' };
const RULE = { on: ['crm.person.updated', 'crm.todo.updated'], to: 'chat', template: '{{id}}', mostPerMinute: 1_000 };

export class Rule {
  readonly #file: string;
  readonly #server = createServer((request, response) => void this.#receive(request, response));
  /** With the event that each is to answer. */
  readonly #waiting = new Map<ServerResponse, string>();
  /** Events that were being sent when the rule was switched: from when Redis goes back to that time, they may be sent. */
  readonly #interrupted = new Set<string>();
  readonly #isBack = new Set<string>();
  readonly #loggedIn = new Map<string, number>();
  readonly #gotIn = new Map<string, number>();
  /** Each time that it is switched on or off. */
  #period = 0;
  #isOn = false;
  #isSwitchedOff = false;
  #stalls = false;

  constructor(name: string) {
    this.#file = join(tmpdir(), `${name}.rules.json`);
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#file, { force: true });
  }

  config(): object {
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
    const chat = { handler: 'message', url, allowHosts: ['127.0.0.1'], rate: { requests: 10_000 } };
    return { destinations: { chat }, rules: this.#file, http: { tokens: { operate: OPERATE } } };
  }

  /** From now on it answers only when the rule is switched, or when all is to be delivered. */
  stall(): void {
    this.#stalls = true;
  }

  async switch(feed: Changefeed, enabled: boolean): Promise<void> {
    const ask = async (path: string, payload?: object): Promise<unknown> => {
      const method = payload === undefined ? 'GET' : 'POST';
      const given = payload === undefined ? {} : { payload };
      const answer = await inject(feed.handler, {
        method,
        url: `/changefeed/api/rules${path}`,
        headers: HEADERS,
        ...given,
      });
      return answer.json();
    };
    // Redis may just have gone back: it is away for the page until it is found again.
    const revision = await eventually(async () => {
      const found = (await ask('')) as { revision?: string };
      if (found.revision === undefined) throw new Error(`no rules: ${JSON.stringify(found)}`);
      return found.revision;
    });
    const saved = await ask('/copied', { revision, rule: { ...RULE, enabled } });
    if ((saved as { outcome?: string }).outcome !== 'saved') throw new Error(`not saved: ${JSON.stringify(saved)}`);
    if (enabled && !this.#isOn) this.#period += 1;
    this.#isSwitchedOff = this.#isOn && !enabled;
    this.#isOn = enabled;
    for (const event of this.#waiting.values()) this.#interrupted.add(event);
    this.#release(503);
  }

  /** Every process has stopped since it was switched: until then, one that is switched off may send. */
  hasStopped(): void {
    if (this.#isSwitchedOff) this.#period += 1;
    this.#isSwitchedOff = false;
  }

  /** Nobody waits for one that is on and never answers. */
  answer(): void {
    if (this.#isOn) this.#release(200);
  }

  /** Where Redis goes back, the log shows an event once more: when it was logged first counts. */
  logged(eventId: string): void {
    if (!this.#loggedIn.has(eventId)) this.#loggedIn.set(eventId, this.#period);
  }

  wentBack(): void {
    for (const event of this.#interrupted) this.#isBack.add(event);
  }

  wrong(): string[] {
    const late = [...this.#gotIn].filter(
      ([id, period]) => period > (this.#loggedIn.get(id) ?? period) && !this.#isBack.has(id),
    );
    return late.length === 0 ? [] : [`rule: ${late.length} events from before it was switched on last`];
  }

  #release(status: number): void {
    this.#stalls = false;
    for (const response of this.#waiting.keys()) response.writeHead(status).end();
    this.#waiting.clear();
  }

  async #receive(request: AsyncIterable<Buffer>, response: ServerResponse): Promise<void> {
    const { text: id } = JSON.parse(await text(request)) as { text: string };
    this.#gotIn.set(id.trim(), this.#period);
    if (this.#stalls) this.#waiting.set(response, id.trim());
    else response.writeHead(200).end('ok');
  }
}
