/** Chooses the blocks in a window that are drawn one by one, and their order in the stack. */

import { countUntil } from "../../trace/number_order.ts";
import type { Blocks } from "../blocks/blocks.ts";
import { aliveCount } from "../blocks/moment.ts";
import { LEAST_HEIGHT_PX, LEAST_WIDTH_PX, type Window } from "./stack_window.ts";

/** The largest number of blocks in a picture. */
export const MOST_BLOCKS = 2500;
/** The largest number of moves of blocks in a picture that shows only a part of the height. */
export const MOST_MOVES = 4e6;

export interface Choice {
  /** From the bottom up. */
  readonly blocks: Int32Array;
  /** How many blocks are in the window, chosen or not. */
  readonly inWindow: number;
}

/** @param least_px blocks with less height are not chosen */
export function chooseBlocks(blocks: Blocks, window: Window, least_px: number): Choice {
  const { start_ns, end_ns, bytes, isSum } = blocks;
  const { from_ns, to_ns, width_px, height_px, height_bytes } = window;
  const least_bytes = (least_px * height_bytes) / height_px;
  const least_ns = (LEAST_WIDTH_PX * (to_ns - from_ns)) / width_px;
  const started = countUntil(start_ns, to_ns);
  const found: number[] = [];
  for (let block = 0; block < started; block++) {
    // Sums are not drawn one by one, because a sequence of them would jump up and down.
    if (bytes[block]! < least_bytes || isSum?.[block]) {
      continue;
    }
    const until_ns = Math.min(to_ns, end_ns[block]!);
    if (until_ns - Math.max(from_ns, start_ns[block]!) >= least_ns) {
      found.push(block);
    }
  }
  const inWindow = aliveCount(blocks, from_ns) + started - countUntil(start_ns, from_ns);
  const most = window.shown ? mostWhere(blocks, window) : MOST_BLOCKS;
  return { blocks: stacked(largest(Int32Array.from(found), bytes, most), bytes, window), inWindow };
}

/**
 * The largest number of blocks to stack in a window that shows only a part of the height. Blocks
 * outside of that part also count, because they are stacked but not drawn. If there are fewer
 * events, more blocks are possible.
 */
function mostWhere({ events }: Blocks, { from_ns, to_ns, width_px }: Window): number {
  const { times_ns } = events;
  const eventCount = countUntil(times_ns, to_ns) - countUntil(times_ns, from_ns);
  return Math.max(MOST_BLOCKS, Math.floor(MOST_MOVES / Math.min(width_px, eventCount + 1)));
}

/** The largest blocks, at most `most`. Among equal blocks the first ones are taken. */
function largest(found: Int32Array, bytes: Float64Array, most: number): Int32Array {
  if (found.length <= most) {
    return found;
  }
  const sizes = Float64Array.from(found, (block) => bytes[block]!).sort();
  const limit_bytes = sizes[sizes.length - most]!;
  let room = most - sizes.filter((size_bytes) => size_bytes > limit_bytes).length;
  return found.filter(
    (block) => bytes[block]! > limit_bytes || (bytes[block] === limit_bytes && room-- > 0),
  );
}

/** The blocks of each tier are smaller than those of the tier below by this factor. */
const TIER = 4;

/**
 * Sorts by tiers, and inside a tier by start. The lowest tier has the blocks that are visible
 * without zoom. Smaller blocks are above them, where the band is without zoom. So a block keeps its
 * place when the user zooms.
 */
function stacked(chosen: Int32Array, bytes: Float64Array, window: Window): Int32Array {
  const { whole_bytes = window.height_bytes, height_px } = window;
  const seen_bytes = (LEAST_HEIGHT_PX * whole_bytes) / height_px;
  const tiers: number[][] = [];
  for (const block of chosen) {
    const size_bytes = bytes[block]!;
    const tier =
      size_bytes >= seen_bytes
        ? 0
        : Math.ceil(Math.log(seen_bytes / Math.max(1, size_bytes)) / Math.log(TIER));
    tiers[tier] ??= [];
    tiers[tier].push(block);
  }
  return Int32Array.from(tiers.flat());
}
