/** A button with a dialog that says what will happen and to how many, carries it out, and says what came of it. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from './api.js';
import { useRestart } from './hooks.js';
import { usePreferences } from './preferences.js';

interface AskProps {
  /** @defaultValue the label */
  title?: string;
  /** The label of the button that carries it out. @defaultValue the label */
  sure?: string;
  danger?: boolean;
  /** False: something has to be given first. @defaultValue true */
  ready?: boolean;
  /** Says what came of it; null closes the dialog, because the page shows it. */
  run: () => Promise<ComponentChildren>;
  /** Called when the dialog is closed after it was carried out. @defaultValue nothing follows */
  after?: () => void;
  children?: ComponentChildren;
}

interface ActionProps extends AskProps {
  label: string;
  /** Read instead of the label where several buttons have the same. */
  name?: string;
  main?: boolean;
  onOpen?: () => void;
}

export function Action({ label, name, onOpen, main = false, ...dialog }: ActionProps) {
  const [open, setOpen] = useState(false);
  const show = (): void => {
    onOpen?.();
    setOpen(true);
  };
  return (
    <>
      <button type="button" class={main ? 'main' : ''} aria-label={name} aria-haspopup="dialog" onClick={show}>
        {label}
      </button>
      {open && <Dialog title={label} sure={label} {...dialog} onClose={() => setOpen(false)} />}
    </>
  );
}

type State = 'asking' | 'running' | { done: ComponentChildren } | { failed: string };

function Dialog({
  title,
  sure,
  danger = false,
  ready = true,
  run,
  after,
  children,
  onClose,
}: AskProps & { onClose: () => void }) {
  const { t } = usePreferences();
  const [state, setState] = useState<State>('asking');
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key: who presses Enter and types on, types into the dialog.
  useLayoutEffect(() => element.current?.showModal(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    setState('running');
    run()
      .then((done) => (done === null ? element.current?.close() : setState({ done })))
      .catch((failure: unknown) => setState({ failed: messageOf(failure) }));
  };
  const isDone = typeof state === 'object' && 'done' in state;
  const isWaiting = useRestart() && state === 'running';
  const close = (): void => {
    onClose();
    if (isDone) after?.();
  };
  return (
    <dialog ref={element} aria-labelledby={id} onClose={close}>
      <form class="ask" onSubmit={submit}>
        <h2 id={id}>{title}</h2>
        {!isDone && children}
        <div role="status" class={isDone && typeof state.done === 'string' ? 'notice good' : ''}>
          {isDone && state.done}
          {isWaiting && t('restarting')}
        </div>
        {typeof state === 'object' && 'failed' in state && (
          <p class="notice bad" role="alert">
            {state.failed}
          </p>
        )}
        <p class="actions">
          {!isDone && (
            <button type="submit" class={danger ? 'danger' : 'main'} disabled={!ready || state === 'running'}>
              {sure}
            </button>
          )}
          <button type="button" onClick={() => element.current?.close()}>
            {t(isDone ? 'confirm.close' : 'confirm.no')}
          </button>
        </p>
      </form>
    </dialog>
  );
}
