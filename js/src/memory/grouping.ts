/** Whose a block is: its op, its layer, its line of source, its kind. */
import type { Selection } from "../model/store.ts";
import type { Trace } from "../model/trace.ts";
import type { Blocks } from "./blocks.ts";
import { byLayer } from "./by_layer.ts";
import { byLine } from "./by_line.ts";
import { byOp } from "./by_op.ts";
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

/** The group of what was there before the trace and never met by it. */
export const UNMET = -1;
export const UNMET_LABEL = "before the trace, not used in it";

/** One row of the table: a group and its part of the blocks it was asked for. */
export interface GroupSum {
  readonly group: number;
  readonly bytes: number;
  readonly count: number;
  /** By position in MEMORY_KINDS. */
  readonly bytesOfKind: Float64Array;
}

/** Sums over some blocks, group by group, the largest first. */
export function sumGroups(groups: Groups, blocks: Blocks, among: Iterable<number>): GroupSum[] {
  const slots = new Int32Array(groups.count + 1).fill(-1);
  const sums: (GroupSum & { bytes: number; count: number })[] = [];
  for (const block of among) {
    const group = groups.groupOf[blocks.rows[block]!] ?? UNMET;
    let slot = slots[group + 1]!;
    if (slot < 0) {
      const bytesOfKind = new Float64Array(MEMORY_KINDS.length);
      slot = sums.push({ group, bytes: 0, count: 0, bytesOfKind }) - 1;
      slots[group + 1] = slot;
    }
    const sum = sums[slot]!;
    sum.bytes += blocks.bytes[block]!;
    sum.count++;
    sum.bytesOfKind[blocks.kinds[block]!]! += blocks.bytes[block]!;
  }
  return sums.sort((a, b) => b.bytes - a.bytes || b.count - a.count);
}
