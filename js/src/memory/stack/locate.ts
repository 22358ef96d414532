/** Finds a window in which a block is large enough to see, even if it is small and short-lived. */

import { countUntil } from "../../trace/number_order.ts";
import type { Blocks } from "../blocks/blocks.ts";
import { aliveCount } from "../blocks/moment.ts";
import { chooseBlocks, MOST_MOVES } from "./stack_choice.ts";
import { LEAST_HEIGHT_PX, type Window } from "./stack_window.ts";

/** The most events of other blocks in the same picture. */
const MOST_EVENTS = 600;
/** The share of the picture's height that the block gets. */
const PART_OF_HEIGHT = 1 / 8;

/** @param frame the size of the picture, and the bytes of its whole height without zoom */
export function windowAround(
  blocks: Blocks,
  block: number,
  frame: { width_px: number; height_px: number; whole_bytes: number },
): Window & { readonly shown: { readonly from_bytes: number; readonly to_bytes: number } } {
  const { start_ns, end_ns, bytes, events, last_ns } = blocks;
  const [start, end] = [start_ns[block]!, Math.min(last_ns, end_ns[block]!)];
  const middle_ns = (start + end) / 2;
  // If there are more blocks below, fewer events can be shown. Use only half, because more blocks
  // may start.
  const most = MOST_MOVES / (2 * Math.max(1, aliveCount(blocks, middle_ns)));
  const reach = Math.min(MOST_EVENTS, most) / 2;
  const at = countUntil(events.times_ns, middle_ns);
  const margin_ns = Math.max(1, (end - start) / 4);
  const near = (by: number): number => events.times_ns[Math.round(at + by)] ?? middle_ns;
  // Show the start and the end of the block, unless too much happens while it is alive.
  const from_ns = Math.max(blocks.first_ns, start - margin_ns, Math.min(middle_ns, near(-reach)));
  const to_ns = Math.min(last_ns, end + margin_ns, Math.max(middle_ns, near(reach)));
  const height_bytes = Math.min(
    frame.whole_bytes,
    Math.max(1, bytes[block]!) / Math.max(PART_OF_HEIGHT, LEAST_HEIGHT_PX / frame.height_px),
  );
  const window = { ...frame, height_bytes, from_ns, to_ns: Math.max(from_ns + 1, to_ns) };
  const nothing = { from_bytes: 0, to_bytes: 0 };
  const { blocks: stacked } = chooseBlocks(blocks, { ...window, shown: nothing }, LEAST_HEIGHT_PX);
  let bottom_bytes = 0;
  for (const other of stacked) {
    if (other === block) {
      break;
    }
    if (start_ns[other]! <= middle_ns && end_ns[other]! > middle_ns) {
      bottom_bytes += bytes[other]!;
    }
  }
  const from_bytes = Math.max(0, bottom_bytes - (height_bytes - bytes[block]!) / 2);
  return { ...window, shown: { from_bytes, to_bytes: from_bytes + height_bytes } };
}
