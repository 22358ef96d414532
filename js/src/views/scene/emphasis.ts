/** Which parts of a scene are emphasized: the selected part, and the highlighted parts. */
import type { Mark, MarkRole, MarkSide } from "../../model/graph/findings.ts";
import type { Store } from "../../model/state/store.ts";
import type { Selection } from "../../model/state/view_state.ts";
import { kept } from "../../trace/kept.ts";
import { groupsOf, marksOfBox } from "./box_marks.ts";
import type { SceneBox, SceneChip, SceneEdge, SceneFrame } from "./scene.ts";

/**
 * The roles of marks on the path of the current finding. An edge between two boxes with such marks
 * is on the path.
 */
const ON_THE_WAY: ReadonlySet<MarkRole> = new Set(["origin", "path", "failed"]);

const NO_MARKS: readonly Mark[] = [];

export class Emphasis {
  /** The boxes that a selection highlights are computed at their first use. */
  readonly #selection: Selection;
  readonly #matches: Uint8Array;
  /** Marks by box. They do not change from frame to frame. */
  readonly #marks: Map<string, readonly Mark[]>;

  constructor(readonly store: Store) {
    const { mode, finding, taken, unfolded } = store.state;
    const view = [mode, finding, taken.size, unfolded.size].join(" ");
    this.#selection = store.selectionInGraph;
    this.#marks = kept(store.findings, `marks ${view}`, () => new Map());
    this.#matches = store.matchMask();
  }

  isSelected(box: SceneBox): boolean {
    const selection = this.#selection;
    switch (selection.kind) {
      case "op":
        return box.op === selection.op;
      case "grad_node":
        return box.gradNode === selection.gradNode;
      case "group":
        return groupsOf(this.store, box).includes(selection.group);
      case "tensor":
        return box.tensor === selection.tensor;
      default:
        return false;
    }
  }

  isLit(box: SceneBox): boolean {
    const { store } = this;
    // A selected group has only a ring. Colouring all its content would make the picture hard to
    // read.
    if (this.#selection.kind === "group") {
      return false;
    }
    if (box.op >= 0) {
      return store.litOps()[box.op] === 1;
    }
    if (box.gradNode >= 0) {
      return store.litGradNodes()[box.gradNode] === 1;
    }
    return groupsOf(store, box).some((group) => store.litGroups()[group] === 1);
  }

  isMatch(box: SceneBox): boolean {
    return box.op >= 0 && this.#matches[box.op] === 1;
  }

  isFrameSelected(frame: SceneFrame): boolean {
    const selection = this.#selection;
    return selection.kind === "group" && selection.group === frame.group;
  }

  isChipSelected(chip: SceneChip): boolean {
    const selection = this.#selection;
    return selection.kind === "tensor" && chip.tensor >= 0 && chip.tensor === selection.tensor;
  }

  /** The marks of findings on a box, the most important first. */
  marksOf(box: SceneBox): readonly Mark[] {
    if (!this.store.findings.all.length) {
      return NO_MARKS;
    }
    let marks = this.#marks.get(box.id);
    if (!marks) {
      marks = marksOfBox(this.store, box);
      this.#marks.set(box.id, marks);
    }
    return marks;
  }

  /** The cut where gradients end at a box, in a view that does not show the cut itself. */
  endsAt(box: SceneBox): Mark | undefined {
    return this.store.state.mode === "backward" && box.gradNode >= 0
      ? this.store.findings.cutBehind(box.gradNode)
      : undefined;
  }

  /** The mark of the current finding, if the edge is on its path. */
  wayAlong(edge: SceneEdge, boxes: readonly SceneBox[]): Mark | undefined {
    const { finding } = this.store;
    // A pair of an op and its grad node shows a mark on both boxes, but the path of the finding
    // goes through only one of them.
    const side = edge.phase === "backward" ? "grad_nodes" : "ops";
    const onTheWay = (at: number): Mark | undefined => {
      const box = boxes[at];
      return box && this.#marksOn(box, side).find((mark) => ON_THE_WAY.has(mark.role));
    };
    return finding && onTheWay(edge.target) && onTheWay(edge.source);
  }

  /** The marks of the current finding on ops or on grad nodes. */
  #marksOn(box: SceneBox, side: MarkSide): readonly Mark[] {
    if (!this.marksOf(box).length) {
      return NO_MARKS;
    }
    const key = `${side} ${box.id}`;
    let marks = this.#marks.get(key);
    if (!marks) {
      const { finding } = this.store;
      marks = marksOfBox(this.store, box, side, false).filter((mark) => mark.finding === finding);
      this.#marks.set(key, marks);
    }
    return marks;
  }

  isEdgeStrong(edge: SceneEdge, boxes: readonly SceneBox[]): boolean {
    const selection = this.#selection;
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
}
