/** What subscriptions are called: a rule by its title and the destination that it sends to, others by their name. The id is an addition. */
import { createContext, type ComponentChildren } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import type { Status } from './api.js';
import { usePreferences } from './preferences.js';
import type { Language } from '../src/words/words.js';

interface Called {
  title: string;
  to: string | null;
  handler: string;
  words: Readonly<Record<Language, string>> | undefined;
}

/** Whether who looks may act. */
const CanAct = createContext(false);
export const useCanAct = (): boolean => useContext(CanAct);

const Context = createContext<ReadonlyMap<string, Called>>(new Map());

interface ProviderProps {
  status: Status | null;
  canAct: boolean;
  children: ComponentChildren;
}

export function NamesProvider({ status, canAct, children }: ProviderProps) {
  const all = status?.subscriptions ?? [];
  const key = JSON.stringify(all.map(({ name, title, to }) => [name, title, to]));
  const names = useMemo(
    () =>
      new Map(all.map(({ name, title, to, handler, words }) => [name, { title: title ?? name, to, handler, words }])),
    [key],
  );
  return (
    <CanAct.Provider value={canAct}>
      <Context.Provider value={names}>{children}</Context.Provider>
    </CanAct.Provider>
  );
}

/** Says what a subscription is called; its name where that is not known (any more). */
export function useNames(): (name: string) => string {
  const names = useContext(Context);
  return (name) => names.get(name)?.title ?? name;
}

/** A sentence of the service in the language of the page, with what it quotes by its name there. */
export function useSaid(): (text: string) => string {
  const { said } = usePreferences();
  const nameOf = useNames();
  return (text) => said(text).replace(/"([\w.-]{1,64})"/g, (_, name: string) => `"${nameOf(name)}"`);
}

/** Its title, and small what it sends to and its id. `plain`: without the id. */
export function Named({ name, plain = false }: { name: string; plain?: boolean }) {
  const { word, language } = usePreferences();
  const unknown: Called = { title: name, to: null, handler: '', words: undefined };
  const { title, to, handler, words } = useContext(Context).get(name) ?? unknown;
  const kind = words?.[language] ?? (handler === '' ? '' : word('handler', handler));
  const small = [to ?? kind, ...(title === name || plain ? [] : [name])];
  return (
    <>
      {title} <span class="quiet small">{small.filter((one) => one !== '').join(' · ')}</span>
    </>
  );
}
