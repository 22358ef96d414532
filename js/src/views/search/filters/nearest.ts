/** Finds the words most similar to a mistyped word. */

const LONGEST = 60;

/**
 * @param count how many words to return at most
 * @param most how many letters may differ in a word that does not contain the typed one
 * @returns the nearest first; none if no word is near
 */
export function nearest(
  typed: string,
  words: Iterable<string>,
  count = 3,
  most = Math.max(2, Math.ceil(typed.length / 2)),
): string[] {
  const ranked: { word: string; away: number }[] = [];
  for (const word of words) {
    const at = word.indexOf(typed);
    // A word that begins with the typed letters is probably still being typed.
    const away = at === 0 ? 0 : at > 0 ? 0.5 : differences(typed, word, most);
    if (away <= most) ranked.push({ word, away });
  }
  ranked.sort((a, b) => a.away - b.away || a.word.length - b.word.length);
  return ranked.slice(0, count).map(({ word }) => word);
}

/** Letters to insert, remove or replace (Levenshtein's distance); infinite if more than `most`. */
function differences(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most || b.length > LONGEST) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, replaced));
    }
    row = next;
  }
  return row[b.length]!;
}
