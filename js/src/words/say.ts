/** Texts for users, in English and Chinese, from the tables of `paddle_lab/words/`. */

import { formatCount } from "./quantities.ts";

export type Language = "en" | "zh";
export type Values = Readonly<Record<string, string | number>>;
type Table<Key extends string> = Readonly<Record<Key, Readonly<Record<Language, string>>>>;

// These are the same as in paddle_lab/words/__init__.py.
const PLACEHOLDER = /( ?)\{(\w+)(?:(:,)|\|([^|{}]*)\|([^|{}]*))?\}( ?)/g;
/** Marks a space next to a value: a character that no text contains. */
const ROOM = "\ue000";
/** A space between two Chinese characters, or beside a sign that already contains its space. */
const NO_ROOM =
  /(?<=[\u3000-\u30ff\u4e00-\u9fff\uff00-\uff65])\ue000+(?=[\u3000-\u30ff\u4e00-\u9fff\uff00-\uff65])|\ue000+(?=[，。；：！？（）、])|(?<=[，。；：！？（）、])\ue000+/g;

let current: Language = "en";

/** Set the language of the page; any unknown language means English. */
export function speak(language: string | undefined): void {
  current = language === "zh" ? "zh" : "en";
}

/** The current language of the page. */
export function language(): Language {
  return current;
}

/** Join sentences to one text. In Chinese, no spaces are put between them. */
export function joined(sentences: readonly unknown[]): string {
  return sentences.join(current === "zh" ? "" : " ");
}

/**
 * Outputs of one page may have different languages. While the page handles an event in `root`, it
 * uses the language of `root`.
 *
 * @returns a function that ends the use of this language
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

/** Makes the function `t` of a table, which returns the text of a key with `values` filled in. */
export function sayFrom<Key extends string>(
  table: Table<Key>,
): (key: Key, values?: Values) => string {
  return (key, values = {}) => {
    const said = table[key][current].replace(
      PLACEHOLDER,
      (
        _,
        before: string,
        name: string,
        comma?: string,
        one?: string,
        many?: string,
        after = "",
      ) => {
        const value = values[name] ?? `{${name}}`;
        const text =
          one !== undefined
            ? value === 1
              ? one
              : many!
            : comma && typeof value === "number"
              ? formatCount(value)
              : String(value);
        return (before && ROOM) + text + (after && ROOM);
      },
    );
    // A space belongs between Chinese and Latin text, not between Chinese and Chinese.
    return (current === "zh" ? said.replace(NO_ROOM, "") : said).replaceAll(ROOM, " ");
  };
}
