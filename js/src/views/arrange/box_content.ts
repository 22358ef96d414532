/** The text of a box, and the size that the text needs. */

import { isLeaf } from "../../model/gradients/grad_leaves.ts";
import type { Hierarchy } from "../../model/graph/hierarchy.ts";
import { OP_STATES, opStates } from "../../model/graph/op_states.ts";
import { foldAround } from "../../model/state/folding.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import { givenTensors } from "../../model/visible/parameters.ts";
import type { VisibleItem } from "../../model/visible/visible_tree.ts";
import type { Column } from "../../trace/columns.ts";
import { PHASES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { foldLabel, leafCountText, oddNote, refoldLabel } from "../names/group_label.ts";
import { FOLD_CARD_PX } from "../scene/drawing_style.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { Phase, SceneBox } from "../scene/scene.ts";
import { BOX_HEIGHT_PX, boxLine, NARROWEST_PX, PADDING_PX, stepped } from "./box_lines.ts";
import { ChipWriter, NO_CHIPS } from "./chips.ts";

const GROUP_HEIGHT_PX = 42;
const TENSOR_HEIGHT_PX = 22;

/** A box before the layout gives it a place. */
export type BoxContent = Omit<SceneBox, "x" | "y"> & { x: number; y: number };

/** Properties of ops, one row per op. */
interface OpColumns {
  readonly name: Column;
  readonly phase: Column;
  readonly isPylayer: Column;
  readonly group: Column;
  readonly state: Uint8Array;
}

function columnsOf(trace: Trace): OpColumns {
  const ops = trace.table("ops");
  return {
    name: ops.column("name"),
    phase: ops.column("phase"),
    isPylayer: ops.column("is_pylayer"),
    group: trace.table("op_groups").column("group"),
    state: opStates(trace),
  };
}

export class BoxWriter {
  readonly trace: Trace;
  readonly hierarchy: Hierarchy;
  /** Read for the first op that is drawn. A picture of closed groups does not need this. */
  #columns: OpColumns | undefined;
  readonly #chips: ChipWriter;

  constructor(
    readonly store: Pictured,
    readonly measure: TextMeasure,
    readonly showsParameters: boolean,
    /** 1 for each grad node of the shown backward call. */
    readonly isMember: Uint8Array,
    readonly widest_px: number,
  ) {
    this.trace = store.trace;
    this.hierarchy = store.hierarchy;
    this.#chips = new ChipWriter(store.trace, measure);
  }

  write(item: VisibleItem, isBackward: boolean): BoxContent {
    switch (item.kind) {
      case "op":
        return this.op(item.key, item.through, item.id);
      case "grad_node":
        return this.gradNode(item.key, item.through, item.id);
      case "tensor":
        return this.#tensor(item);
      default:
        return this.group(item, isBackward);
    }
  }

  op(op: number, through: string, id: string): BoxContent {
    const { trace } = this;
    this.#columns ??= columnsOf(trace);
    const columns = this.#columns;
    const sublabel = [through, programNote(trace, op)].filter(Boolean).join(" · ");
    const line = boxLine(this.measure, trace.text(columns.name[op]!), sublabel, this.widest_px);
    return {
      ...EMPTY,
      ...line,
      kind: columns.isPylayer[op] === 1 ? "pylayer" : "op",
      phase: PHASES[columns.phase[op]!]!,
      op,
      group: columns.group[op]!,
      chips: this.showsParameters
        ? NO_CHIPS
        : this.#chips.given(givenTensors(trace, op), line.width),
      state: OP_STATES[columns.state[op]!]!,
      id,
    };
  }

  gradNode(gradNode: number, through: string, id: string): BoxContent {
    const { trace } = this;
    const op = trace.at("grad_nodes", "op", gradNode);
    const leaf = isLeaf(trace, gradNode);
    const parameter = trace.at("grad_nodes", "parameter", gradNode);
    const label =
      leaf && parameter >= 0 ? trace.tensorLabel(parameter) : trace.gradNodeLabel(gradNode);
    const leaves = new Set<number>();
    for (const edge of this.showsParameters ? [] : trace.gradEdgesFrom(gradNode)) {
      const target = trace.at("grad_edges", "target", edge);
      if (target >= 0 && this.isMember[target] && isLeaf(trace, target)) {
        leaves.add(target);
      }
    }
    const line = boxLine(this.measure, label, leaf ? t("box.accumulate") : through, this.widest_px);
    return {
      ...EMPTY,
      ...line,
      kind: leaf ? "leaf" : op >= 0 && trace.at("ops", "is_pylayer", op) ? "pylayer" : "grad_node",
      phase: "backward",
      gradNode,
      group: trace.groupOfGradNode(gradNode),
      chips: this.#chips.leaves([...leaves], line.width),
      id,
    };
  }

  /**
   * A closed group, or a fold of repeated groups.
   *
   * @param areEqual whether each member of the fold has the same number of these leaves
   */
  group(
    item: VisibleItem,
    isBackward: boolean,
    leafCount = item.leafCount,
    areEqual = true,
  ): BoxContent {
    const { trace, hierarchy } = this;
    const members =
      item.kind === "fold" ? foldAround(hierarchy, this.store.state, item.key) : [item.key];
    const name =
      item.kind === "fold" ? foldLabel(this.store, item.key) : trace.groupLabel(item.key);
    const className = trace.textAt("groups", "class", item.key);
    const each = leafCount / members.length;
    const ops =
      areEqual && members.length > 1 && Number.isInteger(each)
        ? `${members.length} × ${leafCountText(this.store, isBackward, [item.key], each)}`
        : leafCountText(this.store, isBackward, members, leafCount);
    const value = item.kind === "fold" ? "" : trace.turnValue(item.key);
    const details = [className !== name && className, value, ops, oddNote(this.store, item)]
      .filter(Boolean)
      .join(" · ");
    const first = trace.at("groups", "first_op", item.key);
    const kind = trace.groupKind(item.key);
    const text = Math.max(
      this.measure.width(name, "label"),
      this.measure.width(details, "sublabel"),
    );
    const width = stepped(text + 2 * PADDING_PX + 10, this.widest_px);
    const refold = item.kind === "group" && !isBackward ? refoldLabel(this.store, item.key) : "";
    return {
      ...EMPTY,
      label: name,
      sublabel: details,
      width,
      chips: refold ? this.#chips.refold(refold, width) : NO_CHIPS,
      height: GROUP_HEIGHT_PX + (item.kind === "fold" ? 2 * FOLD_CARD_PX : 0),
      kind: item.kind === "fold" ? "fold" : kind === "pylayer" ? "pylayer" : "group",
      phase: isBackward
        ? "backward"
        : phaseOfGroup(kind, first >= 0 ? trace.phaseOf(first) : "forward"),
      group: item.key,
      id: item.id,
    };
  }

  /** An empty box in place of a grad node that gradients do not reach. */
  ghost(op: number, id: string): BoxContent {
    return {
      ...EMPTY,
      ...boxLine(this.measure, t("box.no_gradient"), "", this.widest_px),
      kind: "ghost",
      phase: "backward",
      op,
      id,
    };
  }

  #tensor(item: VisibleItem): BoxContent {
    const { trace } = this;
    const label = trace.tensorLabel(item.key) || t(`tensor_kind.${trace.tensorKind(item.key)}`);
    return {
      ...EMPTY,
      ...boxLine(this.measure, label, trace.textAt("tensors", "shape", item.key), this.widest_px),
      height: TENSOR_HEIGHT_PX,
      kind: "parameter",
      phase: "forward",
      tensor: item.key,
      id: item.id,
    };
  }
}

/** Half the width of a box, measured from its centre to its farthest chip. */
export function halfWidthOf(box: BoxContent): number {
  let extent = box.width / 2;
  for (const chip of box.chips) {
    extent = Math.max(extent, Math.abs(chip.x) + chip.width / 2);
  }
  return extent;
}

const EMPTY: BoxContent = {
  x: Number.NaN,
  y: Number.NaN,
  width: NARROWEST_PX,
  height: BOX_HEIGHT_PX,
  label: "",
  sublabel: "",
  kind: "op",
  phase: "forward",
  op: -1,
  gradNode: -1,
  group: -1,
  tensor: -1,
  chips: NO_CHIPS,
  state: "normal",
  id: "",
};

function phaseOfGroup(kind: string, ofFirstOp: Phase): Phase {
  return kind === "optimizer" ? "optimizer" : kind === "backward" ? "backward" : ofFirstOp;
}

/** "7 ops"; "" if the op ran no compiled program. */
function programNote(trace: Trace, op: number): string {
  if (!trace.table("programs").length) return "";
  let ops = 0;
  for (const row of trace.programsOf(op)) ops += trace.at("programs", "ops", row);
  return ops ? t("count.op", { n: ops }) : "";
}
