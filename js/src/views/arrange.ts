/** From what is visible to a graph for the layout, and from the layout's places to a scene. */
import type { NestedGraph, NestedResult } from "../layout/contract.ts";
import { EDGE_FEEDBACK, EDGE_LANE } from "../layout/contract.ts";
import { withParameters } from "../model/parameters.ts";
import type { Store } from "../model/store.ts";
import { membersOf, type VisibleTree, visibleBackward, visibleForward } from "../model/visible.ts";
import { backwardEdges, forwardEdges, type VisibleEdges } from "../model/visible_edges.ts";
import { type BoxContent, BoxWriter, extentOf, refoldLabel } from "./box_content.ts";
import type { TextMeasure } from "./measure.ts";
import { countOf } from "./quantities.ts";
import type { EdgeKind, Scene, SceneBox, SceneEdge, SceneFrame, Side } from "./scene.ts";

/** What is to be laid out, with what is needed to turn the result into a scene. */
export interface Arrangement {
  readonly isMember: Uint8Array;
  readonly side: Side;
  readonly tree: VisibleTree;
  readonly edges: VisibleEdges;
  /** Content of each item; undefined for an open group. */
  readonly contents: readonly (BoxContent | undefined)[];
  readonly graph: NestedGraph;
}

export function arrange(store: Store, side: Side, measure: TextMeasure): Arrangement {
  const { trace, hierarchy, state } = store;
  const isBackward = side === "backward";
  const isMember = membersOf(trace, state.backwardCall);
  const writer = new BoxWriter(store, measure, state.showParameters, isMember);
  let tree = isBackward
    ? visibleBackward(trace, hierarchy, state)
    : visibleForward(trace, hierarchy, state);
  if (state.showParameters && !isBackward) {
    tree = withParameters(trace, tree);
  }
  const edges = isBackward ? backwardEdges(trace, tree, true) : forwardEdges(trace, tree);
  const contents = tree.items.map((item) =>
    item.isOpen ? undefined : writer.write(item, isBackward),
  );
  const graph = nestedGraph(store, tree, edges, contents);
  return { isMember, side, tree, edges, contents, graph };
}

export function nestedGraph(
  store: Store,
  tree: VisibleTree,
  edges: VisibleEdges,
  contents: readonly (BoxContent | undefined)[],
): NestedGraph {
  const count = tree.items.length;
  const structure = store.trace.table("groups").column("structure");
  const byOrder = Int32Array.from(tree.items.keys()).sort(
    (a, b) => tree.items[a]!.order - tree.items[b]!.order,
  );
  const order = new Int32Array(count);
  byOrder.forEach((item, place) => {
    order[item] = place;
  });
  return {
    itemCount: count,
    parent: Int32Array.from(tree.items, (item) => item.parent),
    open: Uint8Array.from(tree.items, (item) => (item.isOpen ? 1 : 0)),
    width: Float64Array.from(contents, (box) => (box ? 2 * extentOf(box) : 0)),
    height: Float64Array.from(contents, (box) => box?.height ?? 0),
    edgeSource: edges.source,
    edgeTarget: edges.target,
    order,
    structure: Int32Array.from(tree.items, (item) => (item.isOpen ? structure[item.key]! : -1)),
  };
}

/** The scene of one side alone. */
export function compose(store: Store, arrangement: Arrangement, result: NestedResult): Scene {
  const { side, tree, contents } = arrangement;
  const boxes: SceneBox[] = [];
  const frames: SceneFrame[] = [];
  const boxOfItem = new Int32Array(tree.items.length).fill(-1);
  const depth = new Int32Array(tree.items.length);
  tree.items.forEach((item, index) => {
    depth[index] = item.parent >= 0 ? depth[item.parent]! + 1 : 0;
    const place = { x: result.x[index]!, y: result.y[index]! };
    const content = contents[index];
    if (content) {
      boxOfItem[index] = boxes.push({ ...content, ...place }) - 1;
    } else {
      const size = { width: result.width[index]!, height: result.height[index]! };
      frames.push({
        ...place,
        ...size,
        ...frameContent(store, item.key, side, item.leafCount),
        depth: depth[index]!,
      });
    }
  });
  return {
    width: result.totalWidth,
    height: result.totalHeight,
    focusX: trunkX(result),
    boxes,
    frames,
    edges: sceneEdges(store, arrangement, result, boxOfItem, boxOfItem),
    labels: [],
    rungs: [],
  };
}

/** Where the main path runs. */
export function trunkX(result: NestedResult): number {
  const trunk = result.trunk.indexOf(1);
  return trunk >= 0 ? result.x[trunk]! : result.totalWidth / 2;
}

export function frameContent(
  store: Store,
  group: number,
  side: Side,
  leafCount: number,
): Omit<SceneFrame, "x" | "y" | "width" | "height" | "depth"> {
  const { trace } = store;
  const className = trace.textAt("groups", "class", group);
  const title = trace.groupLabel(group);
  const ops = countOf(leafCount, side === "backward" ? "grad node" : "op");
  return {
    title,
    subtitle: className && className !== title ? `${className} · ${ops}` : ops,
    group,
    kind: trace.groupKind(group),
    side,
    refold: refoldLabel(store, group),
    id: `group:${group}`,
  };
}

export function sceneEdges(
  store: Store,
  { side, edges }: Pick<Arrangement, "side" | "edges">,
  paths: Pick<NestedResult, "edgeStart" | "edgeKind" | "pathX" | "pathY">,
  boxOfSource: Int32Array,
  boxOfTarget: Int32Array,
): SceneEdge[] {
  const made: SceneEdge[] = [];
  for (let edge = 0; edge < edges.length; edge++) {
    const [first, end] = [paths.edgeStart[edge]!, paths.edgeStart[edge + 1]!];
    made.push({
      pathX: paths.pathX.subarray(first, end),
      pathY: paths.pathY.subarray(first, end),
      kind: edgeKind(side, paths.edgeKind[edge]!, edges.isDetached[edge] === 1),
      phase: side,
      label: labelOf(store, side, edges, edge),
      tensor: edges.tensor[edge]!,
      gradEdges: edges.gradEdges[edge]!,
      count: edges.count[edge]!,
      source: boxOfSource[edges.source[edge]!]!,
      target: boxOfTarget[edges.target[edge]!]!,
    });
  }
  return made;
}

function edgeKind(side: Side, shape: number, isDetached: boolean): EdgeKind {
  if (isDetached) {
    return "detach";
  }
  if (shape === EDGE_LANE) {
    return "lane";
  }
  if (shape === EDGE_FEEDBACK) {
    return "feedback";
  }
  return side === "backward" ? "gradient" : "data";
}

function labelOf(store: Store, side: Side, edges: VisibleEdges, edge: number): string {
  const count = edges.count[edge]!;
  const noun = side === "backward" ? "gradients" : "tensors";
  return count > 1 ? `${count} ${noun}` : store.trace.text(edges.shape[edge]!);
}
