/** What people read, in English and in Chinese: the tables of `paddle_lab/words/`, as the page reads them. */

import { formatCount } from "../views/panel/quantities.ts";

export type Language = "en" | "zh";
export type Values = Readonly<Record<string, string | number>>;
type Table<Key extends string> = Readonly<Record<Key, Readonly<Record<Language, string>>>>;

// As in paddle_lab/words/__init__.py.
const PLACEHOLDER = /\{(\w+)(?:(:,)|\|([^|{}]*)\|([^|{}]*))?\}/g;

let current: Language = "en";

/** From now on the page speaks `language`; what is none is English. */
export function speak(language: string | undefined): void {
  current = language === "zh" ? "zh" : "en";
}

/** The language that the page speaks. */
export function language(): Language {
  return current;
}

/**
 * Outputs of one page may speak different languages: whatever a person does in `root`, the page
 * speaks that of `root` while it answers.
 *
 * @returns what ends it
 */
export function speakIn(root: HTMLElement, language: string | undefined): () => void {
  const listen = (): void => speak(language);
  listen();
  for (const event of EVENTS) {
    root.addEventListener(event, listen, { capture: true, passive: true });
  }
  return () => {
    for (const event of EVENTS) {
      root.removeEventListener(event, listen, { capture: true });
    }
  };
}

const EVENTS = [
  "pointerenter",
  "pointermove",
  "pointerdown",
  "click",
  "keydown",
  "focusin",
  "input",
  "wheel",
  "scroll",
] as const;

/** Makes a room's `t`: the text of a key with `values` for its placeholders. */
export function sayFrom<Key extends string>(
  table: Table<Key>,
): (key: Key, values?: Values) => string {
  return (key, values = {}) =>
    table[key][current].replace(PLACEHOLDER, (whole, name: string, comma, one, many) => {
      const value = values[name] ?? whole;
      if (one !== undefined) return value === 1 ? one : many;
      return comma && typeof value === "number" ? formatCount(value) : String(value);
    });
}
