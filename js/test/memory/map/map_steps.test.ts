import { expect, test } from "vitest";
import type { BlockMap } from "../../../src/memory/map/block_map.ts";
import { type MapKey, stepInMap } from "../../../src/memory/map/block_map.ts";

/** Blocks 0 and 1, free memory, then block 2, which reaches into the second row, and block 3. */
const map: BlockMap = {
  row_bytes: 100,
  rowCount: 2,
  blocks: Int32Array.of(0, 1, -1, 2, 2, 3),
  rows: Int32Array.of(0, 0, 0, 0, 1, 1),
  from_bytes: Float64Array.of(0, 10, 40, 50, 0, 20),
  to_bytes: Float64Array.of(10, 40, 50, 100, 20, 100),
  used_bytes: 190,
  free_bytes: 10,
  largestFree_bytes: 10,
  regionCount: 1,
};

test("arrows go from block to block, and up and down to what lies there", () => {
  const led = (from: number, ...keys: MapKey[]): number[] => {
    let block = from;
    return keys.map((key) => {
      block = stepInMap(map, block, key);
      return block;
    });
  };
  expect(led(-1, "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")).toEqual([
    0, 1, 2, 3, 3,
  ]);
  expect(led(3, "ArrowLeft", "ArrowLeft", "Home", "ArrowLeft", "End")).toEqual([2, 1, 0, 0, 3]);
  expect(led(0, "ArrowDown")).toEqual([2]);
  expect(led(1, "ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp")).toEqual([3, 3, 2, 2]);
});

test("a map without a block leads nowhere", () => {
  const empty = { ...map, blocks: Int32Array.of(-1) };
  expect(stepInMap(empty, -1, "ArrowDown")).toBe(-1);
  expect(stepInMap(empty, -1, "End")).toBe(-1);
});
