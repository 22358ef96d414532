/** What is under the pointer in the timeline, in a few lines. */
import { totalAt } from "../../memory/events.ts";
import { UNMET_LABEL } from "../../memory/grouping.ts";
import type { TimelineHit } from "../../memory/hit.ts";
import { kindLabel } from "../../memory/kinds.ts";
import type { MemoryState } from "../../memory/memory_state.ts";
import { ownerOf } from "../../model/owner.ts";
import { blockLine, lifetime } from "../details/allocation.ts";
import { element } from "../element.ts";
import { formatBytes, formatDuration } from "../panel/quantities.ts";

/** Its first line, and others that are soft. */
export function tooltipParts(memory: MemoryState, hit: TimelineHit, time_ns: number): Node[] {
  return tooltipLines(memory, hit, time_ns).map((line, i) =>
    element("div", { class: i ? "pdl-soft" : undefined }, line),
  );
}

function tooltipLines(memory: MemoryState, hit: TimelineHit, time_ns: number): string[] {
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
        `${formatBytes(hit.bytes)} in ${blocks.isSum ? "" : "small "}${kindLabel(hit.allocationKind)} blocks`,
        blocks.isSum
          ? "Added up where this trace did not keep each of them"
          : "Zoom in to tell them apart",
        moment,
      ];
    case "empty":
      return [moment];
  }
}
