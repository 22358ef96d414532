/** The ways to group blocks: by op, by layer, by line of source, by kind. */

import { layersOfScopes, layersOfTensors } from "../../model/graph/layer_names.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { kindLabel, MEMORY_KINDS } from "../blocks/kinds.ts";
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

/**
 * Groups blocks by the name of their layer. All calls of a layer are one group. A parameter that is
 * older than the trace belongs to its layer.
 */
function byLayer(trace: Trace): Groups {
  const ofScope = layersOfScopes(trace);
  const ofTensor = layersOfTensors(trace);
  const table = trace.table("allocations");
  const scopeOfOp = trace.table("ops").column("scope");
  const parameterOf = trace.table("grad_nodes").column("parameter");
  const [gradNodeOf, scopeOf, tensorOf] = trace.columns(
    "allocations",
    "grad_node",
    "scope",
    "tensor",
  );
  // In backward, the scope is only the call. So the layer of a gradient comes from the op.
  const opOf = table.column("op");
  const groupOf = new Int32Array(table.length);
  for (let row = 0; row < groupOf.length; row++) {
    const parameter = parameterOf[gradNodeOf[row]!] ?? -1;
    const tensor = parameter >= 0 ? parameter : tensorOf[row]!;
    const ofOp = ofScope[scopeOfOp[opOf[row]!] ?? -1];
    // A group is identified by the position of the layer's name in `strings`.
    groupOf[row] = ofOp || ofScope[scopeOf[row]!] || ofTensor[tensor] || 0;
  }
  const firstGroups = firstGroupsOf(trace, ofScope);
  const groupNamed = (name: number): number => firstGroups.get(name) ?? -1;
  return {
    groupOf,
    count: trace.strings.length,
    label: (name) => trace.text(name) || t("memory.outside_layers"),
    note: (name) => {
      const group = groupNamed(name);
      return group >= 0 ? trace.textAt("groups", "class", group) : "";
    },
    selection: (name) => {
      const group = groupNamed(name);
      return group >= 0 ? { kind: "group", group } : { kind: "none" };
    },
  };
}

/**
 * The first call of each layer in the graph, keyed by the position of the layer's name in
 * `strings`.
 */
function firstGroupsOf(trace: Trace, ofScope: Int32Array): Map<number, number> {
  const groups = new Map<number, number>();
  for (let group = trace.groupCount - 1; group >= 0; group--) {
    const scope = trace.groupKind(group) === "layer" ? trace.at("groups", "scope", group) : -1;
    if (ofScope[scope]) {
      groups.set(ofScope[scope]!, group);
    }
  }
  return groups;
}

/** Groups blocks by line of source. */
const NO_FRAME = -1;
const BEFORE = -2;

/** Groups by the innermost line of the user's code in the stack. */
function byLine(trace: Trace): Groups {
  const [fileOf, lineOf] = trace.columns("frames", "file", "line");
  const frameOf: number[] = [BEFORE, NO_FRAME];
  const [before, none] = [0, 1];
  const numbers = new Map<string, number>();
  const ofFrame = Int32Array.from(fileOf, (file, frame) => {
    const key = `${file} ${lineOf[frame]}`;
    const number = numbers.get(key) ?? frameOf.push(frame) - 1;
    numbers.set(key, number);
    return number;
  });
  const ownFrame = trace.table("stack_frames").column("frame");
  const stackOfOp = trace.table("ops").column("stack");
  const table = trace.table("allocations");
  const [opOf, stackOf, startOf] = trace.columns("allocations", "op", "stack", "start_ns");
  const groupOf = new Int32Array(table.length);
  for (let row = 0; row < groupOf.length; row++) {
    const own = ownFrame[stackOf[row]!] ?? NO_FRAME;
    const frame = own >= 0 ? own : (ownFrame[stackOfOp[opOf[row]!]!] ?? NO_FRAME);
    groupOf[row] = ofFrame[frame] ?? (startOf[row]! < 0 ? before : none);
  }
  return {
    groupOf,
    count: frameOf.length,
    label(number) {
      const frame = frameOf[number]!;
      if (frame < 0) {
        return t(frame === BEFORE ? "memory_kind.earlier" : "memory.no_line");
      }
      const cell = trace.at("frames", "cell", frame);
      const file = trace.textAt("frames", "file", frame).split(/[\\/]/).at(-1);
      const line = trace.at("frames", "line", frame);
      return t("place.file_line", { file: cell >= 0 ? t("place.cell", { cell }) : file!, line });
    },
    note(number) {
      const source = frameOf[number]! >= 0 ? trace.sourceOf(frameOf[number]!) : undefined;
      return source?.lines[lineOf[frameOf[number]!]! - source.firstLine]?.trim() ?? "";
    },
    selection(number) {
      const frame = frameOf[number]!;
      return frame < 0
        ? { kind: "none" }
        : { kind: "line", file: fileOf[frame]!, line: lineOf[frame]! };
    },
  };
}
