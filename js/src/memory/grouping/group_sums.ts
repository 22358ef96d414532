/** Sums over blocks by group, in columns instead of an object for each group. */
import type { Blocks } from "../blocks/blocks.ts";
import { MEMORY_KINDS } from "../blocks/kinds.ts";
import { type Groups, UNMET } from "./groups.ts";

export interface GroupSums {
  /** Groups with at least one block, ascending; {@link UNMET} can be one. */
  readonly groups: Int32Array;
  /** By position in `groups`, as the columns below. */
  readonly bytes: Float64Array;
  readonly counts: Float64Array;
  /** The bytes of all blocks that started in the span, even if they were freed. */
  readonly allocated_bytes: Float64Array;
}

/** The columns have one more entry, for {@link UNMET}. This is its position. */
const ROOM = -UNMET;

/**
 * @param alive positions of the blocks whose bytes and number are summed
 * @param started range of positions of the blocks whose allocated bytes are summed, including freed ones
 */
export function sumGroups(
  groups: Groups,
  blocks: Blocks,
  alive: Int32Array,
  started: { readonly first: number; readonly end: number } = { first: 0, end: 0 },
): GroupSums {
  const { rows, bytes } = blocks;
  const { groupOf } = groups;
  const alive_bytes = new Float64Array(groups.count + ROOM);
  const counts = new Float64Array(groups.count + ROOM);
  const allocated_bytes = new Float64Array(groups.count + ROOM);
  for (let at = 0; at < alive.length; at++) {
    const block = alive[at]!;
    const row = rows[block]!;
    const slot = (row < 0 ? UNMET : groupOf[row]!) + ROOM;
    alive_bytes[slot]! += bytes[block]!;
    counts[slot]!++;
  }
  for (let block = started.first; block < started.end; block++) {
    const row = rows[block]!;
    allocated_bytes[(row < 0 ? UNMET : groupOf[row]!) + ROOM]! += bytes[block]!;
  }
  const present: number[] = [];
  for (let slot = 0; slot < counts.length; slot++) {
    if (counts[slot]! > 0 || allocated_bytes[slot]! > 0) {
      present.push(slot);
    }
  }
  return {
    groups: Int32Array.from(present, (slot) => slot - ROOM),
    bytes: Float64Array.from(present, (slot) => alive_bytes[slot]!),
    counts: Float64Array.from(present, (slot) => counts[slot]!),
    allocated_bytes: Float64Array.from(present, (slot) => allocated_bytes[slot]!),
  };
}

/** Bytes by position in MEMORY_KINDS, one row for each group in `wanted`. */
export function kindsOfGroups(
  groups: Groups,
  blocks: Blocks,
  alive: Int32Array,
  wanted: readonly number[],
): Float64Array[] {
  const slots = new Int32Array(groups.count + ROOM).fill(-1);
  const found = wanted.map((group, slot) => {
    slots[group + ROOM] = slot;
    return new Float64Array(MEMORY_KINDS.length);
  });
  for (let at = 0; at < alive.length; at++) {
    const block = alive[at]!;
    const row = blocks.rows[block]!;
    const slot = slots[(row < 0 ? UNMET : groups.groupOf[row]!) + ROOM]!;
    if (slot >= 0) {
      found[slot]![blocks.kinds[block]!]! += blocks.bytes[block]!;
    }
  }
  return found;
}
