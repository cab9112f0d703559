/** A title with lines below it, as a chat or a mail says it. Pure. */
import type { Service } from './services.js';
import { cut } from './template.js';

interface TextLink {
  text: string;
  url: string;
}

/** A line, and where its record is seen. */
export interface Line {
  text: string;
  link: TextLink;
}

/** Nothing in it is escaped. */
export interface TitledText {
  title: string;
  lines: readonly (string | Line)[];
  link?: TextLink | null;
}

/** The last link stays where the lines are cut. Those of lines go first, the last line's before others: a link that is cut is none. */
export function titledText({ title, lines, link = null }: TitledText, service: Service): string {
  const linkText = ({ url, text }: TextLink): string => service.link(url, service.escape(text));
  const end = link === null ? '' : `\n${linkText(link)}`;
  const lineText = (line: string | Line, isLinked: boolean): string => {
    if (typeof line === 'string') return service.escape(line);
    return `${service.escape(line.text)}${isLinked ? ` · ${linkText(line.link)}` : ''}`;
  };
  const textWith = (linked: number): string =>
    [service.bold(service.escape(title)), ...lines.map((line, at) => lineText(line, at < linked))].join('\n');
  let linked = lines.length;
  while (linked > 0 && cut(textWith(linked), service, end) !== `${textWith(linked)}${end}`) linked -= 1;
  return cut(textWith(linked), service, end);
}
