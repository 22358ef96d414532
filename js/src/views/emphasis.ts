/** What of a scene stands out: the selection itself, and what it lights up. */
import type { Store } from "../model/store.ts";
import type { SceneBox, SceneChip, SceneEdge, SceneFrame } from "./scene.ts";
import { isGroup } from "./scene_index.ts";

export class Emphasis {
  readonly #store: Store;
  readonly #ops: Uint8Array;
  readonly #gradNodes: Uint8Array;
  readonly #groups: Uint8Array;
  readonly #matches: ReadonlySet<number>;

  constructor(store: Store) {
    this.#store = store;
    this.#ops = store.litOps();
    this.#gradNodes = store.litGradNodes();
    this.#groups = store.litGroups();
    this.#matches = new Set(store.state.query ? store.state.matches : []);
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
      return this.#ops[box.op] === 1;
    }
    if (box.gradNode >= 0) {
      return this.#gradNodes[box.gradNode] === 1;
    }
    if (box.kind === "fold") {
      const members = this.#store.hierarchy.runMembers(box.group);
      return members.some((group) => this.#groups[group] === 1);
    }
    return isGroup(box) && this.#groups[box.group] === 1;
  }

  isMatch(box: SceneBox): boolean {
    return box.op >= 0 && this.#matches.has(box.op);
  }

  isFrameSelected(frame: SceneFrame): boolean {
    const selection = this.#store.selectionInGraph;
    return selection.kind === "group" && selection.group === frame.group;
  }

  isChipSelected(chip: SceneChip): boolean {
    const selection = this.#store.selectionInGraph;
    return selection.kind === "tensor" && chip.tensor >= 0 && chip.tensor === selection.tensor;
  }

  isEdgeStrong(edge: SceneEdge, boxes: readonly SceneBox[]): boolean {
    const selection = this.#store.selectionInGraph;
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
      (box.kind === "fold" && this.#store.hierarchy.runOf[group] === box.group)
    );
  }
}
