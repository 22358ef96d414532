/** A tooltip about the part of the timeline under the pointer. */

import { kindLabel } from "../../../memory/blocks/kinds.ts";
import { totalAt } from "../../../memory/blocks/moment.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import type { TimelineHit } from "../../../memory/stack/hit.ts";
import { ownerOf } from "../../../model/state/owner.ts";
import { t } from "../../../words/page.ts";
import { formatBytes, formatDuration } from "../../../words/quantities.ts";
import { blockLine, lifetime } from "../../details/allocation.ts";

export function tooltipLines(memory: MemoryState, hit: TimelineHit, time_ns: number): string[] {
  const { blocks, trace } = memory;
  const total = formatBytes(totalAt(blocks, time_ns));
  const moment = t("memory.alive_at", { size: total, time: formatDuration(Math.round(time_ns)) });
  switch (hit.kind) {
    case "block": {
      const row = blocks.rows[hit.block]!;
      if (row < 0) {
        return [t("memory.from_before", { size: formatBytes(blocks.bytes[hit.block]!) }), moment];
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
        t(blocks.isSum ? "memory.band_sum" : "memory.band_small", {
          size: formatBytes(hit.bytes),
          kind: kindLabel(hit.allocationKind),
        }),
        blocks.isSum ? t("memory.added_up") : t("memory.zoom_in"),
        moment,
      ];
    case "empty":
      return [moment];
  }
}
