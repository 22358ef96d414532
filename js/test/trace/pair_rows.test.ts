import { expect, test } from "vitest";
import { PairRows } from "../../src/trace/pair_rows.ts";

test("pairs are numbered as they come, each once, also beyond what was expected", () => {
  const rows = new PairRows(4);
  const known = new Map<string, number>();
  let seed = 1;
  for (let at = 0; at < 5000; at++) {
    seed = (Math.imul(seed, 48271) >>> 0) % 2147483647;
    const [source, target] = [seed % 70, (seed >>> 8) % 60];
    const name = `${source} ${target}`;
    if (!known.has(name)) {
      known.set(name, known.size);
    }
    expect(rows.rowOf(source, target)).toBe(known.get(name));
  }
  expect(rows.length).toBe(known.size);
  const { source, target } = rows.pairs();
  expect([...known.keys()]).toEqual(Array.from(source, (from, row) => `${from} ${target[row]}`));
});
