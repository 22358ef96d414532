/** Chooses the blocks that get their own area in a window, and the order to stack them. */
import type { Blocks } from "../blocks/blocks.ts";
import { aliveCount } from "../blocks/moment.ts";
import { countUntil } from "../blocks/time_order.ts";
import { LEAST_HEIGHT_PX, LEAST_WIDTH_PX, type Window } from "./stack_window.ts";

/** How many blocks a picture shows at most. */
export const MOST_BLOCKS = 2500;
/** The most moves of blocks in a picture that shows only a part of the height. */
export const MOST_MOVES = 4e6;

export interface Choice {
  /** From the bottom up. */
  readonly blocks: Int32Array;
  /** Blocks of the window, whether chosen or not. */
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
    // The sums that follow each other would jump up and down if each were drawn.
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
 * The most blocks to stack in a window that shows a part of the height. Blocks outside of that part
 * count too: they are stacked but not drawn. Fewer events allow more blocks.
 */
function mostWhere({ events }: Blocks, { from_ns, to_ns, width_px }: Window): number {
  const { times_ns } = events;
  const eventCount = countUntil(times_ns, to_ns) - countUntil(times_ns, from_ns);
  return Math.max(MOST_BLOCKS, Math.floor(MOST_MOVES / Math.min(width_px, eventCount + 1)));
}

/** The largest of some blocks, at most `most`; among equal ones the first. */
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

/** Each higher tier has blocks that are smaller by this factor. */
const TIER = 4;

/**
 * In tiers, and by start within a tier. Blocks that are visible without zoom are the lowest tier.
 * Smaller ones are above them, where they were a part of the band without zoom: so a block keeps its
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
