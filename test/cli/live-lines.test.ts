import { describe, expect, it } from 'vitest';
import { liveLines, type TerminalStream } from '../../src/cli/live-lines.js';

/** A terminal as far as it is needed here: text, the cursor moved up, everything below it cleared. */
function terminal() {
  const lines = [''];
  const take = (chunk: string): void => {
    for (const part of chunk.match(/\u001b\[\??\d*[A-Za-z]|\r|\n|[^\u001b\r\n]+/g) ?? []) {
      const up = /^\u001b\[(\d+)A$/.exec(part);
      if (up !== null) row -= Number(up[1]);
      else if (part === '\u001b[J') lines.splice(row, lines.length, '');
      else if (part === '\n') lines[++row] ??= '';
      else if (!part.startsWith('\u001b') && part !== '\r') lines[row] = `${lines[row] ?? ''}${part}`;
    }
  };
  let row = 0;
  const stream = (): TerminalStream => ({
    isTTY: true,
    columns: 20,
    write: (chunk) => {
      take(String(chunk));
      return true;
    },
  });
  return { lines, stderr: stream(), stdout: stream() };
}

describe('live lines', () => {
  it('live lines: are replaced in place and removed at the end', () => {
    const { lines, stderr } = terminal();
    const live = liveLines(stderr, []);
    live.show(['people 1', 'todo 1']);
    live.show(['people 2', 'todo 2']);
    expect(lines).toEqual(['people 2', 'todo 2', '']);
    live.end();
    live.end();
    live.show(['too late']);
    expect(lines).toEqual(['']);
  });

  it('live lines: stay below what is written to either stream', () => {
    const { lines, stderr, stdout } = terminal();
    const live = liveLines(stderr, [stdout]);
    live.show(['bar']);
    stdout.write('event 1\n');
    stderr.write('a warning\n');
    stdout.write('event ');
    stdout.write('2\n');
    expect(lines).toEqual(['event 1', 'a warning', 'event 2', 'bar', '']);
    live.end();
    stdout.write('after\n');
    expect(lines).toEqual(['event 1', 'a warning', 'event 2', 'after', '']);
  });

  it('live lines: do not affect a stream that is not a terminal', () => {
    const { stderr } = terminal();
    const written: string[] = [];
    const file: TerminalStream = { isTTY: false, write: (chunk) => written.push(String(chunk)) > 0 };
    const live = liveLines(stderr, [file]);
    live.show(['bar']);
    file.write('event\n');
    live.end();
    expect(written).toEqual(['event\n']);
  });

  it('live lines: are cut to the width of the terminal, because wrapped lines cannot be removed', () => {
    const { lines, stderr } = terminal();
    const live = liveLines(stderr, []);
    live.show(['x'.repeat(50)]);
    expect(lines).toEqual([`${'x'.repeat(18)}…`, '']);
    live.show(['가'.repeat(50)]);
    expect(lines).toEqual([`${'가'.repeat(9)}…`, '']);
  });
});
