/** How keys move the moment that is looked at, and what is on screen with it. */

import type { MemoryState } from "../../../memory/memory_state.ts";
import { windowAround } from "../../../memory/stack/locate.ts";
import type { Store } from "../../../model/state/store.ts";
import type { ShownWindow } from "./shown_window.ts";

/**
 * Move the moment, or with `isSpan` the end of the span.
 *
 * @param by fraction of what is on screen
 * @returns whether the window had to follow
 */
export function stepMoment(
  memory: MemoryState,
  window: ShownWindow,
  by: number,
  isSpan: boolean,
): boolean {
  const { start, end } = window.span;
  const { first_ns, last_ns } = memory.blocks;
  const { from_ns, to_ns } = memory.choice;
  const wanted_ns = (isSpan || by > 0 ? to_ns : from_ns) + by * (end - start);
  const next_ns = Math.max(first_ns, Math.min(last_ns, wanted_ns));
  memory.update({ from_ns: isSpan ? Math.min(from_ns, next_ns) : next_ns, to_ns: next_ns });
  if (next_ns < start) {
    window.pan((start - next_ns) / (end - start) + 0.1, 0);
  } else if (next_ns > end) {
    window.pan(-((next_ns - end) / (end - start) + 0.1), 0);
  }
  return next_ns < start || next_ns > end;
}

export function jumpToMoment(
  memory: MemoryState,
  window: ShownWindow,
  to: "first" | "last" | "peak",
): void {
  const { first_ns, last_ns, events } = memory.blocks;
  const time_ns = { first: first_ns, last: last_ns, peak: events.peak_ns }[to];
  memory.update({ from_ns: time_ns, to_ns: time_ns });
  const { start, end } = window.span;
  if (time_ns < start || time_ns > end) {
    window.goTo(time_ns - (end - start) / 2, time_ns + (end - start) / 2);
  }
}

/**
 * To the span, or where there is none to the block that is selected.
 *
 * @param size of the frame
 * @returns whether there was something to zoom to
 */
export function zoomToChoice(
  { blocks, choice }: MemoryState,
  store: Store,
  window: ShownWindow,
  size: { width_px: number; height_px: number },
): boolean {
  const { from_ns, to_ns } = choice;
  if (to_ns > from_ns) {
    const margin_ns = (to_ns - from_ns) * 0.04;
    window.goTo(from_ns - margin_ns, to_ns + margin_ns);
    return true;
  }
  const { selection } = store.state;
  const block = selection.kind === "allocation" ? blocks.rows.indexOf(selection.allocation) : -1;
  if (block < 0 || !window.ranges || !size.width_px || !size.height_px) {
    return false;
  }
  const near = windowAround(blocks, block, { ...size, whole_bytes: window.whole_bytes });
  window.goTo(near.from_ns, near.to_ns, near.shown);
  return true;
}
