/** Whose a block is: its op, its layer, its line of source, its kind. */
import type { Selection } from "../model/store.ts";
import type { Trace } from "../model/trace.ts";
import { t } from "../words/page.ts";
import { byLayer } from "./by_layer.ts";
import { byLine } from "./by_line.ts";
import { byOp, type OpNumbers, opNumbers } from "./by_op.ts";
import { kindLabel, MEMORY_KINDS } from "./kinds.ts";

export const GROUPINGS = ["op", "layer", "line", "kind"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** A way to group all blocks of a trace. */
export interface Groups {
  /** Group by row of `allocations`. */
  readonly groupOf: Int32Array;
  readonly count: number;
  label(group: number): string;
  /** What else tells it from others, "" where nothing does. */
  note(group: number): string;
  /** What it is in the graph. */
  selection(group: number): Selection;
}

/** @param ops what is known of the grouping by op */
export function groupAllocations(trace: Trace, grouping: Grouping, ops?: OpNumbers): Groups {
  switch (grouping) {
    case "op":
      return byOp(trace, ops ?? opNumbers(trace));
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

/** The group of what was there before the trace and never met by it. */
export const UNMET = -1;
export function unmetLabel(): string {
  return t("memory.unmet");
}
