/** Reading from the server again and again, and the address of the section that is shown. */
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  act,
  ApiError,
  ask,
  messageOf,
  restart,
  type Answered as Answer,
  type Input,
  type Path,
  type Verb,
} from './api.js';

interface Answered<Value> {
  path: string | null;
  value: Value | null;
  /** The message of the last failure; null when the last answer was good. */
  error: string | null;
  /** The server answers that it cannot read Redis. */
  redisAway: boolean;
}
export type Polled<Value> = Answered<Value> & { again: () => void };

/** What is asked for once a minute must not be missing for a minute because one request failed. */
const AFTER_FAILURE_MS = 2_000;

/** Asks at once, and again after each wait, as long as the page can be seen. A path of null asks nothing. */
export function usePolled<Value>(path: Path<Value> | null, everyMs: number, question = ask<Value>): Polled<Value> {
  const nothing: Answered<Value> = { path, value: null, error: null, redisAway: false };
  const [state, setState] = useState(nothing);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return;
    let ended = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      let waitMs = everyMs;
      if (!document.hidden) {
        try {
          const value = await question(path);
          if (!ended) setState({ path, value, error: null, redisAway: false });
        } catch (error) {
          waitMs = Math.min(everyMs, AFTER_FAILURE_MS);
          const redisAway = error instanceof ApiError && error.status === 503;
          const failed = { path, error: messageOf(error), redisAway };
          if (!ended) setState((before) => ({ ...failed, value: before.path === path ? before.value : null }));
        }
      }
      if (!ended) timer = setTimeout(() => void read(), waitMs);
    };
    void read();
    const seen = (): void => {
      if (document.hidden) return;
      clearTimeout(timer);
      void read();
    };
    document.addEventListener('visibilitychange', seen);
    return () => {
      ended = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [path, everyMs, turn]);
  return { ...(state.path === path ? state : nothing), again: () => setTurn((count) => count + 1) };
}

/** As `usePolled`, for a question whose input does not fit into an address. */
export function useAsked<Name extends Verb>(verb: Name, input: Input<Name> | null, everyMs: number) {
  const key = input === null ? null : (JSON.stringify([verb, input]) as Path<Answer<Name>>);
  return usePolled(key, everyMs, () => act(verb, input as Input<Name>));
}

/** Says whether the service applies another configuration: requests wait until it has. */
export function useRestart(): boolean {
  const [isUnderWay, setUnderWay] = useState(restart.isUnderWay);
  useEffect(() => {
    const changed = (): void => setUnderWay(restart.isUnderWay);
    restart.addEventListener('change', changed);
    return () => restart.removeEventListener('change', changed);
  }, []);
  return isUnderWay;
}

/** The part of the address after `#`: `changes?list=people`. */
export function usePlace(): { section: string; query: URLSearchParams } {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  const [section = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { section: section === '' ? 'overview' : section, query: new URLSearchParams(query) };
}

export function placeOf(section: string, query: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  return `#/${section}${given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`}`;
}

/** The time, every second, for ages that are shown. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(() => new Date().getTime());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date().getTime()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** The value, after it has not changed for a while: a filter is not applied at each key. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [JSON.stringify(value), ms]);
  return settled;
}

/** Moves the focus to the heading of a section when it is opened, so that a screen reader reads it. */
export function useFocusOn(section: string): { current: HTMLElement | null } {
  const ref = useRef<HTMLElement | null>(null);
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) ref.current?.focus();
    first.current = false;
    scrollTo(0, 0);
  }, [section]);
  return ref;
}
