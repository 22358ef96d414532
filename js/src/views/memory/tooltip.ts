/** What is under the pointer in the timeline, in a few lines. */
import { totalAt } from "../../memory/events.ts";
import { UNMET_LABEL } from "../../memory/grouping.ts";
import type { TimelineHit } from "../../memory/hit.ts";
import { kindLabel } from "../../memory/kinds.ts";
import type { MemoryState } from "../../memory/memory_state.ts";
import { ownerOf } from "../../model/owner.ts";
import { blockLine, lifetime } from "../details/allocation.ts";
import { formatBytes, formatDuration } from "../panel/quantities.ts";

const AWAY_PX = 14;

export function tooltipLines(memory: MemoryState, hit: TimelineHit, time_ns: number): string[] {
  const { blocks, trace } = memory;
  const total = formatBytes(totalAt(blocks, time_ns));
  const moment = `${formatDuration(Math.round(time_ns))}: ${total} alive`;
  switch (hit.kind) {
    case "block": {
      const row = blocks.rows[hit.block]!;
      if (row < 0) {
        return [`${formatBytes(blocks.bytes[hit.block]!)} from ${UNMET_LABEL}`, moment];
      }
      const layers = memory.groups("layer");
      const lines = memory.groups("line");
      const layer = layers.groupOf[row]!;
      const line = lines.groupOf[row]!;
      return [
        blockLine(trace, row),
        layer > 0 ? layers.label(layer) : "",
        ownerOf(trace, row).kind === "none"
          ? ""
          : [lines.label(line), lines.note(line)].filter(Boolean).join(": "),
        `${lifetime(trace, row)}`,
        moment,
      ].filter(Boolean);
    }
    case "band":
      return [
        `${formatBytes(hit.bytes)} in small ${kindLabel(hit.allocationKind)} blocks`,
        "Zoom in to tell them apart",
        moment,
      ];
    case "empty":
      return [moment];
  }
}

/** Beside the pointer, inside the app. */
export function placeBeside(tooltip: HTMLElement, app: HTMLElement, event: PointerEvent): void {
  const bounds = app.getBoundingClientRect();
  const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
  const { offsetWidth, offsetHeight } = tooltip;
  const left = x + AWAY_PX + offsetWidth > bounds.width ? x - AWAY_PX - offsetWidth : x + AWAY_PX;
  const top = y + AWAY_PX + offsetHeight > bounds.height ? y - AWAY_PX - offsetHeight : y + AWAY_PX;
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${Math.max(4, top)}px`;
}
