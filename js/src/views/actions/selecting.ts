/** Converts a drawn box or edge into a selection, and a selection into its place in the picture. */
import { foldAround } from "../../model/state/folding.ts";
import type { Store } from "../../model/state/store.ts";
import type { Selection } from "../../model/state/view_state.ts";
import type { Rectangle } from "../scene/camera.ts";
import type { Scene, SceneBox, SceneEdge } from "../scene/scene.ts";
import { type Hit, isGroup, TITLE_HEIGHT_PX } from "../scene/scene_index.ts";

/** The selection for a box or a row of the outline. */
export function selectionOfBox(
  box: Pick<SceneBox, "op" | "gradNode" | "tensor" | "group">,
): Selection {
  if (box.op >= 0) {
    return { kind: "op", op: box.op };
  }
  if (box.gradNode >= 0) {
    return { kind: "grad_node", gradNode: box.gradNode };
  }
  return box.tensor >= 0
    ? { kind: "tensor", tensor: box.tensor }
    : { kind: "group", group: box.group };
}

function selectionOfEdge({ tensor, gradEdges }: SceneEdge): Selection {
  const [edge, ...beside] = gradEdges;
  if (edge !== undefined) {
    return { kind: "gradient", edge, beside };
  }
  return tensor >= 0 ? { kind: "tensor", tensor } : { kind: "none" };
}

/**
 * The selection after a click: the clicked item, the tensor or gradient of an edge, or nothing for
 * an empty place.
 */
export function selectionOfHit(hit: Hit | undefined): Selection {
  switch (hit?.kind) {
    case "box":
      return selectionOfBox(hit.box);
    case "chip":
      return hit.chip.tensor >= 0
        ? { kind: "tensor", tensor: hit.chip.tensor }
        : selectionOfBox(hit.box);
    case "frame":
      return { kind: "group", group: hit.frame.group };
    case "edge":
      return selectionOfEdge(hit.edge);
    default:
      return { kind: "none" };
  }
}

/** Position of the box that shows the selection, or of the closed box that contains it; else -1. */
export function boxOfSelection(store: Store, scene: Scene): number {
  const { hierarchy, trace, groupOfGradNode } = store;
  const selection = store.selectionInGraph;
  const find = (isIt: (box: SceneBox) => boolean, group: number): number => {
    const at = scene.boxes.findIndex(isIt);
    return at >= 0 ? at : boxAround(store, scene, group);
  };
  const ofGradNode = (node: number): number =>
    node < 0 ? -1 : find(({ gradNode }) => gradNode === node, groupOfGradNode[node]!);
  switch (selection.kind) {
    case "op":
      return find(({ op }) => op === selection.op, hierarchy.groupOfOp[selection.op]!);
    case "grad_node":
      return ofGradNode(selection.gradNode);
    case "group": {
      const [ops, nodes] = [store.litOps(), store.litGradNodes()];
      const at = boxAround(store, scene, selection.group);
      // A layer of one op is drawn as the box of this op.
      return at >= 0
        ? at
        : scene.boxes.findIndex(({ op, gradNode }) => ops[op] === 1 || nodes[gradNode] === 1);
    }
    case "gradient":
      return ofGradNode(trace.at("grad_edges", "source", selection.edge));
    case "tensor": {
      const producer = trace.at("tensors", "producer", selection.tensor);
      return scene.boxes.findIndex(
        (box) =>
          box.tensor === selection.tensor ||
          (producer >= 0 && box.op === producer) ||
          box.chips.some((chip) => chip.tensor === selection.tensor),
      );
    }
    case "line": {
      const lit = store.litOps();
      return scene.boxes.findIndex((box) => box.op >= 0 && lit[box.op] === 1);
    }
    default:
      return -1;
  }
}

/** The selection's rectangle in the picture. */
export function placeOfSelection(store: Store, scene: Scene): Rectangle | undefined {
  const selection = store.selectionInGraph;
  if (selection.kind === "group") {
    const frame = scene.frames.find((at) => at.group === selection.group);
    if (frame) {
      // For a large frame, only its upper part with the title matters.
      const height = Math.min(frame.height, 6 * TITLE_HEIGHT_PX);
      return { ...frame, height, y: frame.y - frame.height / 2 + height / 2 };
    }
  }
  return scene.boxes[boxOfSelection(store, scene)];
}

function boxAround(store: Store, scene: Scene, group: number): number {
  const around = new Set(store.trace.groupPath(group));
  const at = scene.boxes.findIndex((box) => isGroup(box) && around.has(box.group));
  if (at >= 0) {
    return at;
  }
  const { hierarchy, state } = store;
  const firsts = new Set([...around].map((inner) => foldAround(hierarchy, state, inner)[0]!));
  return scene.boxes.findIndex((box) => box.kind === "fold" && firsts.has(box.group));
}
