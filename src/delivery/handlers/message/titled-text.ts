/** A title with lines below it, as a chat or a mail says it. Pure. */
import type { Line, TextLink, TitledText } from '../titled.js';
import type { Service } from './services.js';
import { cut } from './template.js';

/** The last link stays where the lines are cut. Those of lines go first, the last line's before others: a link that is cut is none. */
export function titledText({ title, lines, link = null }: TitledText, service: Service): string {
  const linkText = ({ url, text }: TextLink): string => service.link(url, service.escape(text));
  const end = link === null ? '' : `\n${linkText(link)}`;
  const linked = lines.flatMap((line, at) => (typeof line === 'string' ? [] : [at]));
  /** With the links of the first so many lines that have one. */
  const textWith = (count: number): string => {
    const shown = new Set(linked.slice(0, count));
    const lineText = (line: string | Line, at: number): string => {
      if (typeof line === 'string') return service.escape(line);
      return `${service.escape(line.text)}${shown.has(at) ? ` · ${linkText(line.link)}` : ''}`;
    };
    return [service.bold(service.escape(title)), ...lines.map(lineText)].join('\n');
  };
  for (let count = linked.length; count > 0; count -= 1) {
    const text = textWith(count);
    const said = cut(text, service, end);
    if (said === `${text}${end}`) return said;
  }
  return cut(textWith(0), service, end);
}
