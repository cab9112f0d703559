/** A text with a title, before it is in the form of a chat or a mail. */
/** Words that lead somewhere. */
export interface TextLink {
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
