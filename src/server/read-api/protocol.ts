/** How the server answers where the interface is silent: one switch per open point. */
export interface Protocol {
  /** A path that is none of the six. @defaultValue 'html', as seen in the wild */
  readonly unknownPath: 'html' | 'json' | 'empty';
  /** Another method than GET on one of the six. @defaultValue 'json' (405) */
  readonly unknownMethod: 'html' | 'json' | 'empty';
  /** A missing or wrong token. @defaultValue 'reason': `{success, message, reason}` */
  readonly badToken: 'reason' | 'message' | 'empty';
  /** Section 5 says every request carries `Content-Type: application/json`. @defaultValue 'required' (400 without it) */
  readonly contentType: 'required' | 'ignored';
}

export const DEFAULT_PROTOCOL: Protocol = {
  unknownPath: 'html',
  unknownMethod: 'json',
  badToken: 'reason',
  contentType: 'required',
};
