/** What of a scene stands out: the selection itself, and what it lights up. */
import type { Mark, MarkRole, MarkSide } from "../../model/graph/findings.ts";
import { foldAround } from "../../model/state/folding.ts";
import type { Store } from "../../model/state/store.ts";
import { marksOfBox } from "./box_marks.ts";
import type { SceneBox, SceneChip, SceneEdge, SceneFrame } from "./scene.ts";
import { isGroup } from "./scene_index.ts";

/** Marks by box: from frame to frame they stay what they are. */
const marksByStore = new WeakMap<Store, { view: string; marks: Map<string, readonly Mark[]> }>();

function marksInView(store: Store): Map<string, readonly Mark[]> {
  const view = `${store.state.mode} ${store.state.finding}`;
  let known = marksByStore.get(store);
  if (known?.view !== view) {
    known = { view, marks: new Map() };
    marksByStore.set(store, known);
  }
  return known.marks;
}

/** Of the finding in view: what lies between two such boxes is its way. */
const ON_THE_WAY: ReadonlySet<MarkRole> = new Set(["origin", "path", "failed"]);

const NO_MARKS: readonly Mark[] = [];

export class Emphasis {
  readonly #store: Store;
  /** What the selection lights up: asked for once a box needs it. */
  #ops: Uint8Array | undefined;
  #gradNodes: Uint8Array | undefined;
  #groups: Uint8Array | undefined;
  readonly #matches: Uint8Array;
  readonly #marks: Map<string, readonly Mark[]>;

  constructor(store: Store) {
    this.#store = store;
    this.#marks = marksInView(store);
    this.#matches = store.matchMask();
  }

  isSelected(box: SceneBox): boolean {
    const selection = this.#store.selectionInGraph;
    switch (selection.kind) {
      case "op":
        return box.op === selection.op;
      case "grad_node":
        return box.gradNode === selection.gradNode;
      case "group":
        return isGroup(box) && this.#isGroupOrRun(box, selection.group);
      case "tensor":
        return box.tensor === selection.tensor;
      default:
        return false;
    }
  }

  isLit(box: SceneBox): boolean {
    // A group's own ring says enough; all of its inside in colour would drown the picture.
    if (this.#store.selectionInGraph.kind === "group") {
      return false;
    }
    if (box.op >= 0) {
      this.#ops ??= this.#store.litOps();
      return this.#ops[box.op] === 1;
    }
    if (box.gradNode >= 0) {
      this.#gradNodes ??= this.#store.litGradNodes();
      return this.#gradNodes[box.gradNode] === 1;
    }
    if (box.kind !== "fold" && !isGroup(box)) {
      return false;
    }
    this.#groups ??= this.#store.litGroups();
    const groups = this.#groups;
    return box.kind === "fold"
      ? foldAround(this.#store.hierarchy, this.#store.state, box.group).some(
          (group) => groups[group] === 1,
        )
      : groups[box.group] === 1;
  }

  isMatch(box: SceneBox): boolean {
    return box.op >= 0 && this.#matches[box.op] === 1;
  }

  isFrameSelected(frame: SceneFrame): boolean {
    const selection = this.#store.selectionInGraph;
    return selection.kind === "group" && selection.group === frame.group;
  }

  isChipSelected(chip: SceneChip): boolean {
    const selection = this.#store.selectionInGraph;
    return selection.kind === "tensor" && chip.tensor >= 0 && chip.tensor === selection.tensor;
  }

  /** What findings say of a box, the most telling first. */
  marksOf(box: SceneBox): readonly Mark[] {
    if (!this.#store.findings.all.length) {
      return NO_MARKS;
    }
    let marks = this.#marks.get(box.id);
    if (!marks) {
      marks = marksOfBox(this.#store, box);
      this.#marks.set(box.id, marks);
    }
    return marks;
  }

  /** The cut before which gradients end at a box, in a picture that does not show the cut itself. */
  endsAt(box: SceneBox): Mark | undefined {
    return this.#store.state.mode === "backward" && box.gradNode >= 0
      ? this.#store.findings.cutBehind(box.gradNode)
      : undefined;
  }

  /** The mark of the finding in view where the edge is part of its way. */
  wayAlong(edge: SceneEdge, boxes: readonly SceneBox[]): Mark | undefined {
    const { finding } = this.#store;
    // A pair's mark is told at both, but the way went along one.
    const side = edge.phase === "backward" ? "grad_nodes" : "ops";
    const onTheWay = (at: number): Mark | undefined => {
      const box = boxes[at];
      return box && this.#marksOn(box, side).find((mark) => ON_THE_WAY.has(mark.role));
    };
    return finding && onTheWay(edge.target) && onTheWay(edge.source);
  }

  /** Marks of the finding in view on one half. */
  #marksOn(box: SceneBox, side: MarkSide): readonly Mark[] {
    if (!this.marksOf(box).length) {
      return NO_MARKS;
    }
    const key = `${side} ${box.id}`;
    let marks = this.#marks.get(key);
    if (!marks) {
      const { finding } = this.#store;
      marks = marksOfBox(this.#store, box, side, false).filter((mark) => mark.finding === finding);
      this.#marks.set(key, marks);
    }
    return marks;
  }

  isEdgeStrong(edge: SceneEdge, boxes: readonly SceneBox[]): boolean {
    const selection = this.#store.selectionInGraph;
    if (selection.kind === "gradient") {
      return edge.gradEdges.includes(selection.edge);
    }
    if (selection.kind === "tensor") {
      return edge.tensor === selection.tensor;
    }
    if (selection.kind === "none" || selection.kind === "line") {
      return false;
    }
    const [source, target] = [boxes[edge.source], boxes[edge.target]];
    return (!!source && this.isSelected(source)) || (!!target && this.isSelected(target));
  }

  #isGroupOrRun(box: SceneBox, group: number): boolean {
    return (
      box.group === group ||
      (box.kind === "fold" &&
        foldAround(this.#store.hierarchy, this.#store.state, box.group).includes(group))
    );
  }
}
