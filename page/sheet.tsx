/** What a section shows as a table for a spreadsheet: saved as a file, or copied to be pasted. All of it, not only what is on the screen. */
import { useState } from 'preact/hooks';
import { messageOf, sheetOf, type Input, type Verb } from './api.js';
import { usePreferences } from './preferences.js';

type State = '' | 'sheet.busy' | 'sheet.copied' | { failed: string };

export function SheetButtons<Name extends Verb>({
  verb,
  input,
  name,
}: {
  verb: Name;
  input: Input<Name>;
  name: string;
}) {
  const { t } = usePreferences();
  const [state, setState] = useState<State>('');
  const run = (work: Promise<State>): void => {
    setState('sheet.busy');
    work.then(setState).catch((failure: unknown) => setState({ failed: messageOf(failure) }));
  };
  const save = async (): Promise<State> => {
    const link = document.createElement('a');
    // Without the mark, spreadsheets read Korean in another encoding; reading the answer as a text has dropped it.
    link.href = URL.createObjectURL(new Blob(['\ufeff', await sheetOf(verb, input, 'text/csv')], { type: 'text/csv' }));
    link.download = `${name}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
    return '';
  };
  const copy = async (): Promise<State> => {
    const text = sheetOf(verb, input, 'text/tab-separated-values');
    const blob = text.then((one) => new Blob([one], { type: 'text/plain' }));
    // Browsers allow it in the moment of the click only, so the clipboard gets the promise.
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
    return 'sheet.copied';
  };
  return (
    <span class="sheet">
      <button type="button" disabled={state === 'sheet.busy'} onClick={() => run(save())}>
        {t('sheet.csv')}
      </button>
      {/* Browsers have it on addresses with TLS and on this machine. */}
      {'clipboard' in navigator && (
        <button type="button" disabled={state === 'sheet.busy'} onClick={() => run(copy())}>
          {t('sheet.copy')}
        </button>
      )}
      <span role="status" class={typeof state === 'object' ? 'bad-text' : 'quiet'}>
        {typeof state === 'object' ? state.failed : state !== '' && t(state)}
      </span>
    </span>
  );
}
