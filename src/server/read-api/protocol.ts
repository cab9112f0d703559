/** How the server answers where the interface does not say: one switch per open point. */
export interface Protocol {
  /** Answer to an unknown path. @defaultValue 'html', as the real service does */
  readonly unknownPath: 'html' | 'json' | 'empty';
  /** Answer to a method other than GET on a list. @defaultValue 'json' (405) */
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
