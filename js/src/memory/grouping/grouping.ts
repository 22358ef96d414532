/** The ways to group blocks: by op, by layer, by line of source, by kind. */

import type { Trace } from "../../trace/trace.ts";
import { kindLabel, MEMORY_KINDS } from "../blocks/kinds.ts";
import { byLayer } from "./by_layer.ts";
import { byLine } from "./by_line.ts";
import { byOp } from "./by_op.ts";
import type { Groups } from "./groups.ts";

export const GROUPINGS = ["op", "layer", "line", "kind"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export function groupAllocations(trace: Trace, grouping: Grouping): Groups {
  switch (grouping) {
    case "op":
      return byOp(trace);
    case "layer":
      return byLayer(trace);
    case "line":
      return byLine(trace);
    case "kind":
      return byKind(trace);
  }
}

function byKind(trace: Trace): Groups {
  return {
    groupOf: trace.table("allocations").column("kind") as Int32Array,
    count: MEMORY_KINDS.length,
    label: kindLabel,
    note: () => "",
    selection: () => ({ kind: "none" }),
  };
}
