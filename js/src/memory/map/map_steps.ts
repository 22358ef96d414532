/** Moves from block to block in the map of addresses, with keys. */
import type { BlockMap } from "./block_map.ts";

export const MAP_KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"] as const;
export type MapKey = (typeof MAP_KEYS)[number];

/**
 * The block to which a key leads: left and right by address, up and down to a block in that row.
 *
 * @param block the current block, -1 for none; free memory is skipped
 * @returns -1 if the map has no such block
 */
export function stepInMap(map: BlockMap, block: number, key: MapKey): number {
  const pieces = [...map.blocks.keys()].filter((piece) => map.blocks[piece]! >= 0);
  const at = pieces.findIndex((piece) => map.blocks[piece] === block);
  const [first, last] = [pieces[0] ?? -1, pieces.at(-1) ?? -1];
  const blockOf = (piece: number): number => (piece >= 0 ? map.blocks[piece]! : -1);
  if (key === "Home" || (at < 0 && key !== "End")) {
    return blockOf(first);
  }
  if (key === "End") {
    return blockOf(last);
  }
  if (key === "ArrowLeft") {
    return blockOf(pieces[Math.max(0, at - 1)]!);
  }
  if (key === "ArrowRight") {
    // A block that continues in the next row has two pieces, but is one block.
    return blockOf(pieces.slice(at).find((piece) => map.blocks[piece] !== block) ?? pieces[at]!);
  }
  const own = pieces.filter((piece) => map.blocks[piece] === block);
  const from = key === "ArrowUp" ? own[0]! : own.at(-1)!;
  const row = map.rows[from]! + (key === "ArrowUp" ? -1 : 1);
  const middle = (map.from_bytes[from]! + map.to_bytes[from]!) / 2;
  const away = (piece: number): number =>
    Math.max(map.from_bytes[piece]! - middle, middle - map.to_bytes[piece]!, 0);
  const there = pieces.filter((piece) => map.rows[piece] === row);
  const [nearest] = there.sort((a, b) => away(a) - away(b));
  return blockOf(nearest ?? from);
}
