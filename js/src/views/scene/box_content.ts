/** What a box says and how large that makes it. */
import type { Column } from "../../model/columns.ts";
import { foldAround } from "../../model/folding.ts";
import type { Hierarchy } from "../../model/hierarchy.ts";
import { isLeaf } from "../../model/leaves.ts";
import { OP_STATES, opState, opStates } from "../../model/op_states.ts";
import { givenTensors, mayHaveGivenTensors } from "../../model/parameters.ts";
import { runLabel } from "../../model/runs.ts";
import type { Store } from "../../model/store.ts";
import type { Trace } from "../../model/trace.ts";
import type { VisibleItem } from "../../model/visible.ts";
import { PHASES, TENSOR_KINDS } from "../../protocol.ts";
import { FOLD_CARD_PX } from "../paint/drawing_style.ts";
import { countOf } from "../panel/quantities.ts";
import type { TextMeasure } from "./measure.ts";
import type { Phase, SceneBox, SceneChip } from "./scene.ts";

const BOX_HEIGHT_PX = 28;
const GROUP_HEIGHT_PX = 42;
const TENSOR_HEIGHT_PX = 22;
const PADDING_PX = 14;
const GAP_PX = 7;
/** Boxes of a few widths only: a column of them looks calm, and equal groups lay out equally. */
const WIDTH_STEP_PX = 24;
const NARROWEST_PX = 120;
const WIDEST_PX = 264;
const CHIP_HEIGHT_PX = 18;
const CHIP_GAP_PX = 4;
const CHIP_PADDING_PX = 6;
const MOST_CHIPS = 4;
/** Short names as people write them in formulas. */
const SYMBOLS: Readonly<Record<string, string>> = {
  weight: "W",
  bias: "b",
  _mean: "μ",
  _variance: "σ²",
};
const LONGEST_CHIP = 7;

/**
 * Where a box is that has no place yet. It is no whole number: fields that begin as one are made anew, object by
 * object, when fractions come.
 */
const NOWHERE = Number.NaN;

/** A box that has no place yet. */
export type BoxContent = Omit<SceneBox, "x" | "y"> & { x: number; y: number };

type BoxLine = Pick<SceneBox, "label" | "sublabel" | "width" | "height">;

/** From this part of all ops on, tables are read as a whole. */
const MANY = 8;

/** What is asked about each op, a row an op. */
interface OpColumns {
  readonly name: Column;
  readonly phase: Column;
  readonly isPylayer: Column;
  readonly group: Column;
  /** None where few ops are asked for. */
  readonly state: Uint8Array | undefined;
  readonly mayHaveChips: Uint8Array | undefined;
}

function columnsOf(trace: Trace, isMany: boolean): OpColumns {
  const ops = trace.table("ops");
  return {
    name: ops.column("name"),
    phase: ops.column("phase"),
    isPylayer: ops.column("is_pylayer"),
    group: trace.table("op_groups").column("group"),
    state: isMany ? opStates(trace) : undefined,
    mayHaveChips: isMany ? mayHaveGivenTensors(trace) : undefined,
  };
}

export class BoxWriter {
  readonly trace: Trace;
  readonly hierarchy: Hierarchy;
  /** Made for the first op: a picture of closed groups asks for none. */
  #columns: OpColumns | undefined;
  /** By sublabel and label: of a hundred thousand ops few have a line of their own. */
  readonly #lines = new Map<string, Map<string, BoxLine>>();
  /** Labels of chips by what they are short for: the tensor's path and kind. */
  readonly #chipLabels = new Map<number, string>();

  constructor(
    readonly store: Store,
    readonly measure: TextMeasure,
    readonly showsParameters: boolean,
    /** Grad nodes of the backward call in view. */
    readonly isMember: Uint8Array,
    /** How many boxes will be written, about: for few, tables are not read as a whole. */
    readonly boxCount = Number.POSITIVE_INFINITY,
  ) {
    this.trace = store.trace;
    this.hierarchy = store.hierarchy;
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
    this.#columns ??= columnsOf(trace, this.boxCount * MANY > trace.opCount);
    const columns = this.#columns;
    const line = this.#oneLine(trace.text(columns.name[op]!), through);
    return {
      x: NOWHERE,
      y: NOWHERE,
      width: line.width,
      height: line.height,
      label: line.label,
      sublabel: through,
      kind: columns.isPylayer[op] === 1 ? "pylayer" : "op",
      phase: PHASES[columns.phase[op]!]!,
      op,
      gradNode: -1,
      group: columns.group[op]!,
      tensor: -1,
      chips:
        this.showsParameters || columns.mayHaveChips?.[op] === 0
          ? NO_CHIPS
          : this.#chips(givenTensors(trace, op), line.width),
      state: columns.state ? OP_STATES[columns.state[op]!]! : opState(trace, op),
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
    const line = this.#oneLine(label, leaf ? "accumulate" : through);
    return {
      ...EMPTY,
      ...line,
      kind: leaf ? "leaf" : op >= 0 && trace.at("ops", "is_pylayer", op) ? "pylayer" : "grad_node",
      phase: "backward",
      gradNode,
      group: trace.groupOfGradNode(gradNode),
      chips: this.#leafChips([...leaves], line.width),
      id,
    };
  }

  /**
   * A closed group, or a fold of repeated groups.
   *
   * @param areEqual whether each member of the fold holds as many of these leaves
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
    const noun = isBackward ? "grad node" : "op";
    const each = leafCount / members.length;
    const ops =
      areEqual && members.length > 1 && Number.isInteger(each)
        ? `${members.length} × ${countOf(each, noun)}`
        : countOf(leafCount, noun);
    const details = [className !== name && className, ops, oddNote(this.store, item)]
      .filter(Boolean)
      .join(" · ");
    const first = trace.at("groups", "first_op", item.key);
    const kind = trace.groupKind(item.key);
    const text = Math.max(
      this.measure.width(name, "label"),
      this.measure.width(details, "sublabel"),
    );
    const width = stepped(text + 2 * PADDING_PX + 10);
    const refold = item.kind === "group" && !isBackward ? refoldLabel(this.store, item.key) : "";
    return {
      ...EMPTY,
      label: name,
      sublabel: details,
      width,
      chips: refold
        ? this.#row([{ label: `⊟ ${refold}`, tensor: -1, kind: "refold" }], -1, width)
        : [],
      height: GROUP_HEIGHT_PX + (item.kind === "fold" ? 2 * FOLD_CARD_PX : 0),
      kind: item.kind === "fold" ? "fold" : kind === "pylayer" ? "pylayer" : "group",
      phase: isBackward
        ? "backward"
        : phaseOfGroup(kind, first >= 0 ? trace.phaseOf(first) : "forward"),
      group: item.key,
      id: item.id,
    };
  }

  /** Where a grad node would stand if gradients came this far. */
  ghost(op: number, id: string): BoxContent {
    return {
      ...EMPTY,
      ...this.#oneLine("no gradient", ""),
      kind: "ghost",
      phase: "backward",
      op,
      id,
    };
  }

  #tensor(item: VisibleItem): BoxContent {
    const { trace } = this;
    const label = trace.tensorLabel(item.key) || trace.tensorKind(item.key);
    return {
      ...EMPTY,
      ...this.#oneLine(label, trace.textAt("tensors", "shape", item.key)),
      height: TENSOR_HEIGHT_PX,
      kind: "parameter",
      phase: "forward",
      tensor: item.key,
      id: item.id,
    };
  }

  #oneLine(label: string, sublabel: string): BoxLine {
    let lines = this.#lines.get(sublabel);
    if (!lines) {
      lines = new Map();
      this.#lines.set(sublabel, lines);
    }
    let line = lines.get(label);
    if (!line) {
      line = this.#measured(label, sublabel);
      lines.set(label, line);
    }
    return line;
  }

  #measured(label: string, sublabel: string): BoxLine {
    const beside = sublabel ? GAP_PX + this.measure.width(sublabel, "sublabel") : 0;
    const width = stepped(this.measure.width(label, "label") + beside + 2 * PADDING_PX);
    return { label, sublabel, width, height: BOX_HEIGHT_PX };
  }

  #chips(tensors: readonly number[], boxWidth: number): readonly SceneChip[] {
    return this.#row(
      tensors.map((tensor) => ({
        label: this.#chipLabel(tensor),
        tensor,
        kind: this.trace.tensorKind(tensor),
      })),
      -1,
      boxWidth,
    );
  }

  #chipLabel(tensor: number): string {
    const { trace } = this;
    const path = trace.at("tensors", "path", tensor);
    if (!trace.text(path)) {
      return chipLabel(trace, tensor);
    }
    const key = path * TENSOR_KINDS.length + trace.at("tensors", "kind", tensor);
    let label = this.#chipLabels.get(key);
    if (label === undefined) {
      label = chipLabel(trace, tensor);
      this.#chipLabels.set(key, label);
    }
    return label;
  }

  #leafChips(leaves: readonly number[], boxWidth: number): readonly SceneChip[] {
    return this.#row(
      leaves.map((leaf) => {
        const tensor = this.trace.at("grad_nodes", "parameter", leaf);
        return { label: leafLabel(this.trace, tensor), tensor, kind: "leaf" };
      }),
      1,
      boxWidth,
    );
  }

  /** Chips side by side, from the box outwards: to its left (-1) or right (1). */
  #row(
    chips: readonly Pick<SceneChip, "label" | "tensor" | "kind">[],
    side: 1 | -1,
    boxWidth: number,
  ): readonly SceneChip[] {
    if (!chips.length) {
      return NO_CHIPS;
    }
    const shown = chips.slice(0, chips.length > MOST_CHIPS ? MOST_CHIPS - 1 : MOST_CHIPS);
    const all =
      shown.length < chips.length
        ? [...shown, { label: `+${chips.length - shown.length}`, tensor: -1, kind: "more" }]
        : shown;
    // On the left the first is the outermost: a row reads from left to right.
    const outwards = side < 0 ? all.reverse() : all;
    let edge = boxWidth / 2 + CHIP_GAP_PX + 1;
    return outwards.map((chip) => {
      const text = this.measure.width(chip.label, "small");
      const width = Math.max(CHIP_HEIGHT_PX, Math.ceil(text) + 2 * CHIP_PADDING_PX);
      const x = side * (edge + width / 2);
      edge += width + CHIP_GAP_PX;
      const { label, tensor, kind } = chip;
      return { label, tensor, kind, x, y: 0, width, height: CHIP_HEIGHT_PX };
    });
  }
}

/** Width that a box needs on either side of its centre, chips included. */
export function extentOf(box: BoxContent): number {
  let extent = box.width / 2;
  for (const chip of box.chips) {
    extent = Math.max(extent, Math.abs(chip.x) + chip.width / 2);
  }
  return extent;
}

const NO_CHIPS: readonly SceneChip[] = [];

const EMPTY: BoxContent = {
  x: NOWHERE,
  y: NOWHERE,
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
  chips: [],
  state: "normal",
  id: "",
};

function chipLabel(trace: Trace, tensor: number): string {
  const name = trace.tensorLabel(tensor);
  const kind = trace.tensorKind(tensor);
  if (kind === "parameter" || kind === "buffer") {
    const plain = name.replace(/^_+/, "");
    const short = plain.length > LONGEST_CHIP ? `${plain.slice(0, LONGEST_CHIP - 1)}…` : plain;
    return SYMBOLS[name] ?? (short || (kind === "parameter" ? "W" : "buffer"));
  }
  return kind === "gradient" ? "grad" : "data";
}

function leafLabel(trace: Trace, tensor: number): string {
  const isNamed = tensor >= 0 && trace.tensorLabel(tensor) !== "";
  return isNamed ? chipLabel(trace, tensor) : "leaf";
}

/** "layers.0–11 ×12" of the fold that begins with a group. */
export function foldLabel({ trace, hierarchy, state }: Store, first: number): string {
  const members = foldAround(hierarchy, state, first);
  const label = runLabel(trace.groupLabel(first), trace.groupLabel(members.at(-1)!));
  return `${label} ×${members.length}`;
}

/** "×12" where the group begins a run that is shown member by member, or is taken out of it. */
export function refoldLabel({ hierarchy, state }: Store, group: number): string {
  const run = hierarchy.runOf[group]!;
  const isShown = state.unfolded.has(run) ? run === group : state.taken.has(group);
  return run >= 0 && isShown ? `×${hierarchy.runMembers(run).length}` : "";
}

/** "unlike 95 siblings" of a group that is built differently, else "". */
export function oddNote(
  { oddSiblings }: Store,
  { kind, key }: Pick<VisibleItem, "kind" | "key">,
): string {
  const family = kind === "group" ? oddSiblings.familyOf(key) : undefined;
  return family ? `unlike ${family.alike} siblings` : "";
}

function phaseOfGroup(kind: string, ofFirstOp: Phase): Phase {
  return kind === "optimizer" ? "optimizer" : kind === "backward" ? "backward" : ofFirstOp;
}

function stepped(width: number): number {
  const steps = Math.ceil((width - NARROWEST_PX) / WIDTH_STEP_PX);
  return Math.min(WIDEST_PX, NARROWEST_PX + Math.max(0, steps) * WIDTH_STEP_PX);
}
