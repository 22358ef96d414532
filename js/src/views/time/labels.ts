/** The names of boxes of time, the text about them, and the selection that a click on them makes. */

import type { Selection } from "../../model/state/view_state.ts";
import { lineOfFrame, lineOfStack } from "../../model/table/rows_of.ts";
import { opsInside } from "../../model/time/box_facts.ts";
import type { GrownTree } from "../../model/time/grow_tree.ts";
import { type Part, totalOf } from "../../model/time/icicle.ts";
import { CELL_THREAD, isTimeComplete } from "../../model/time/spans.ts";
import type { TimeState } from "../../model/time/time_state.ts";
import type { BoxKind } from "../../model/time/time_tree.ts";
import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { formatDuration, formatShare } from "../../words/quantities.ts";
import { frameLabel } from "../names/stack_order.ts";

/** "conv1 · Conv2D ×3": the text on a box. */
export function labelOfPart(state: TimeState, { box, only }: Part): string {
  if (only) return t("time.smaller", { n: only.length });
  const { tree } = state.grown;
  const { kind } = tree.of(box);
  const count = ["op", "group", "backward", "grad_node"].includes(kind) ? tree.count(box) : 1;
  return count > 1 ? `${nameOfBox(state, box)} ×${count}` : nameOfBox(state, box);
}

function nameOfBox({ trace, grown, choice }: TimeState, box: number): string {
  const { kind, key } = grown.tree.of(box);
  switch (kind) {
    case "root":
      return choice.thread === CELL_THREAD
        ? trace.origin.title || t("toolbar.trace")
        : t("time.thread", { thread: choice.thread });
    case "group": {
      const [label, name] = [trace.groupLabel(key), trace.textAt("groups", "class", key)];
      return name && name !== label ? `${label} · ${name}` : label;
    }
    case "loop":
      return t("time.loop", { words: trace.textAt("loops", "words", key) });
    case "frame": {
      const name = trace.textAt("frames", "function", key);
      return [name === "<module>" ? "" : name, frameLabel(trace, key)].filter(Boolean).join(" · ");
    }
    case "op":
      return trace.opLabel(key);
    case "backward":
      return trace.backwardKind(key);
    case "grad_node":
      return trace.gradNodeLabel(key);
    case "other":
      return t("time.other_kernels");
    case "outside":
    case "before":
    case "after":
      return isComplete(trace) ? t(`time.${kind}`) : t("time.outside_or_lost");
    case "own":
      return t("time.own");
  }
}

function isComplete(trace: Trace): boolean {
  return kept(trace, "time is complete", () => isTimeComplete(trace));
}

/** The lines of a tooltip. */
export function linesOfPart(state: TimeState, part: Part): string[] {
  const { tree } = state.grown;
  const total_ns = totalOf(tree, part);
  const whole_ns = tree.total_ns(0);
  const share = formatShare(total_ns, whole_ns);
  const isCell = state.choice.thread === CELL_THREAD;
  return [
    labelOfPart(state, part),
    [
      formatDuration(total_ns),
      share && part.box + (part.only?.length ?? 0) > 0
        ? state.choice.measure === "kernels"
          ? t("time.of_kernels", { share })
          : t(isCell ? "time.of_cell" : "time.of_thread", { share })
        : "",
    ]
      .filter(Boolean)
      .join(" · "),
    ...(part.only ? [t("time.smaller_note")] : linesOfBox(state, part.box)),
  ].filter(Boolean);
}

function linesOfBox(state: TimeState, box: number): string[] {
  const { trace, grown } = state;
  const { tree } = grown;
  const { kind, key } = tree.of(box);
  switch (kind) {
    case "root":
    case "group":
    case "loop":
    case "frame": {
      const outside_ns = tree
        .children(box)
        .reduce(
          (sum, inner) => sum + (isPlainGap(tree.of(inner).kind) ? tree.total_ns(inner) : 0),
          0,
        );
      return [
        outside_ns > 0 ? t("time.self", { time: formatDuration(outside_ns) }) : "",
        t("time.ops_inside", { n: allInside(state)[box]! }),
        kind === "frame" ? sourceLine(trace, key) : "",
      ];
    }
    case "op": {
      const frame = trace.ownFrameOf(key);
      const isAround = grown.spans.parent.length > 0 && hasInner(grown, box);
      return [
        tree.count(box) > 1
          ? t("time.calls", {
              n: tree.count(box),
              each: formatDuration(Math.round(tree.total_ns(box) / tree.count(box))),
            })
          : "",
        isAround ? t("time.without_inner") : "",
        tree.count(box) === 1 && frame >= 0 ? frameLabel(trace, frame) : "",
      ];
    }
    case "backward":
      return [t("time.backward_note")];
    case "own":
      return [t("time.own_note")];
    case "other":
      return [t("time.other_kernels_note")];
    case "grad_node":
      return [];
    default:
      return [t("time.outside_note"), isComplete(trace) ? "" : t("time.not_complete")];
  }
}

/** Whether a box shows time outside of ops. */
export function isGap(kind: BoxKind): boolean {
  return kind === "own" || kind === "other" || isPlainGap(kind);
}

/** Like `isGap`, without the trace's own work. */
function isPlainGap(kind: BoxKind): boolean {
  return kind === "outside" || kind === "before" || kind === "after";
}

/** How many ops are in each box. */
export function allInside({ grown }: TimeState): Int32Array {
  return kept(grown, "ops inside", () => opsInside(grown));
}

/** Whether spans ran inside the spans of a box. */
function hasInner({ spans, boxOfSpan }: GrownTree, box: number): boolean {
  return spans.parent.some((parent) => parent >= 0 && boxOfSpan[parent] === box);
}

function sourceLine(trace: Trace, frame: number): string {
  const source = trace.sourceOf(frame);
  return source?.lines[trace.at("frames", "line", frame) - source.firstLine]?.trim() ?? "";
}

/** @param member which of the items that the box represents */
export function selectionOfBox(trace: Trace, kind: string, member: number): Selection {
  switch (kind) {
    case "op":
      return { kind: "op", op: member };
    case "grad_node":
      return { kind: "grad_node", gradNode: member };
    case "group":
      return { kind: "group", group: member };
    case "frame":
      return lineOfFrame(trace, member);
    case "loop":
      return {
        kind: "line",
        file: trace.at("loops", "file", member),
        line: trace.at("loops", "line", member),
      };
    case "backward":
      return lineOfStack(trace, trace.at("backward_calls", "stack", member));
    default:
      return { kind: "none" };
  }
}
