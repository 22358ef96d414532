/** Converts the visible tree into a graph for the layout, and the layout's result into a scene. */
import type { NestedGraph, NestedResult } from "../../layout/contract.ts";
import { EDGE_FEEDBACK, EDGE_LANE } from "../../layout/contract.ts";
import { membersOf } from "../../model/gradients/backward_calls.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import { withParameters } from "../../model/visible/parameters.ts";
import {
  backwardEdges,
  forwardEdges,
  type VisibleEdge,
} from "../../model/visible/visible_edges.ts";
import {
  type VisibleItem,
  type VisibleTree,
  visibleBackward,
  visibleForward,
} from "../../model/visible/visible_tree.ts";
import { t } from "../../words/page.ts";
import { leafCountText, oddNote, refoldLabel } from "../names/group_label.ts";
import { valueText } from "../names/value_text.ts";
import { noteRoom } from "../scene/drawing_style.ts";
import { LONGEST_LABEL_PX } from "../scene/edge_label_places.ts";
import { mainReaches } from "../scene/main_groups.ts";
import type { TextMeasure } from "../scene/measure.ts";
import type { EdgeKind, Scene, SceneBox, SceneEdge, SceneFrame, Side } from "../scene/scene.ts";
import { LABEL_AWAY_PX } from "../scene/taken.ts";
import { titleRoom } from "../scene/title_room.ts";
import { type BoxContent, BoxWriter, halfWidthOf } from "./box_content.ts";
import { WIDEST_PX } from "./box_lines.ts";
import { SPACING } from "./spacing.ts";

/** How much of the words beside an edge may be in the padding around a group's content. */
const WORDS_IN_PADDING_PX = SPACING.groupPaddingPx - LABEL_AWAY_PX - 4;

/** The graph to lay out, and the data that turns the layout's result into a scene. */
export interface Arrangement {
  readonly isMember: Uint8Array;
  readonly side: Side;
  readonly tree: VisibleTree;
  readonly edges: readonly VisibleEdge[];
  /** Content of each item; undefined for an open group. */
  readonly contents: readonly (BoxContent | undefined)[];
  readonly graph: NestedGraph;
}

export function arrange(
  store: Pictured,
  side: Side,
  measure: TextMeasure,
  widest_px = WIDEST_PX,
): Arrangement {
  const { trace, hierarchy, state } = store;
  const isBackward = side === "backward";
  const isMember = membersOf(trace, state.backwardCall);
  let tree = isBackward
    ? visibleBackward(trace, hierarchy, state)
    : visibleForward(trace, hierarchy, state);
  if (state.showParameters && !isBackward) {
    tree = withParameters(trace, tree);
  }
  const edges = isBackward ? backwardEdges(trace, tree) : forwardEdges(trace, tree);
  const writer = new BoxWriter(store, measure, state.showParameters, isMember, widest_px);
  const contents = tree.items.map((item) =>
    item.isOpen ? undefined : writer.write(item, isBackward),
  );
  const graph = nestedGraph(store, { side, tree, edges, contents }, measure);
  return { isMember, side, tree, edges, contents, graph };
}

export function nestedGraph(
  store: Pictured,
  { side, tree, edges, contents }: Pick<Arrangement, "side" | "tree" | "edges" | "contents">,
  measure: TextMeasure,
): NestedGraph {
  const { items } = tree;
  const count = items.length;
  const parent = new Int32Array(count);
  const open = new Uint8Array(count);
  const [width, height] = [new Float64Array(count), new Float64Array(count)];
  for (let at = 0; at < count; at++) {
    const item = items[at]!;
    const box = contents[at];
    parent[at] = item.parent;
    if (box) {
      width[at] = 2 * Math.max(halfWidthOf(box), box.width / 2 + noteRoom(box, measure));
      height[at] = box.height;
    } else {
      open[at] = 1;
      width[at] = titleRoom(frameContent(store, item.key, side, item.leafCount), measure);
    }
  }
  const right = width.map((room) => room / 2);
  for (const edge of edges) {
    const words = Math.min(LONGEST_LABEL_PX, measure.width(labelOf(store, side, edge), "small"));
    right[edge.source] = Math.max(right[edge.source]!, words - WORDS_IN_PADDING_PX);
  }
  return {
    itemCount: count,
    parent,
    open,
    width,
    height,
    right,
    edgeSource: Int32Array.from(edges, ({ source }) => source),
    edgeTarget: Int32Array.from(edges, ({ target }) => target),
    order: placesInOrder(items),
  };
}

/**
 * The rank of each item in execution order. Items with equal order stay in the order of the list.
 */
function placesInOrder(items: readonly VisibleItem[]): Int32Array {
  const places = new Int32Array(items.length);
  [...items.keys()]
    .sort((a, b) => items[a]!.order - items[b]!.order)
    .forEach((at, place) => {
      places[at] = place;
    });
  return places;
}

/** The scene of only the forward or only the backward side. */
export function compose(store: Pictured, arrangement: Arrangement, result: NestedResult): Scene {
  const { side, tree, contents } = arrangement;
  const boxes: SceneBox[] = [];
  const frames: SceneFrame[] = [];
  const boxOfItem = new Int32Array(tree.items.length).fill(-1);
  const depth = new Int32Array(tree.items.length);
  for (let index = 0; index < tree.items.length; index++) {
    const item = tree.items[index]!;
    depth[index] = item.parent >= 0 ? depth[item.parent]! + 1 : 0;
    const x = result.x[index]!;
    const y = result.y[index]!;
    const content = contents[index];
    if (content) {
      content.x = x;
      content.y = y;
      boxOfItem[index] = boxes.push(content) - 1;
    } else {
      frames.push({
        ...frameContent(store, item.key, side, item.leafCount),
        x,
        y,
        width: result.width[index]!,
        height: result.height[index]!,
        depth: depth[index]!,
      });
    }
  }
  return {
    width: result.totalWidth,
    height: result.totalHeight,
    focusX: mainPathX(result),
    mains: mainReaches(tree, frames),
    boxes,
    frames,
    edges: sceneEdges(store, arrangement, result, boxOfItem, boxOfItem),
    labels: [],
    rungs: [],
  };
}

/** The x coordinate of the main path. */
export function mainPathX(result: NestedResult): number {
  const first = result.onMainPath.indexOf(1);
  return first >= 0 ? result.x[first]! : result.totalWidth / 2;
}

export function frameContent(
  store: Pictured,
  group: number,
  side: Side,
  leafCount: number,
): Omit<SceneFrame, "x" | "y" | "width" | "height" | "depth"> {
  const { trace } = store;
  const className = trace.textAt("groups", "class", group);
  const title = trace.groupLabel(group);
  const ops = leafCountText(store, side === "backward", [group], leafCount);
  return {
    title,
    subtitle: [
      className !== title && className,
      trace.turnValue(group),
      ops,
      oddNote(store, { kind: "group", key: group }),
    ]
      .filter(Boolean)
      .join(" · "),
    group,
    kind: trace.groupKind(group),
    side,
    refold: refoldLabel(store, group),
    id: `group:${group}`,
  };
}

export function sceneEdges(
  store: Pictured,
  { side, edges }: Pick<Arrangement, "side" | "edges">,
  paths: Pick<NestedResult, "edgeStart" | "edgeKind" | "pathX" | "pathY">,
  boxOfSource: Int32Array,
  boxOfTarget: Int32Array,
): SceneEdge[] {
  return edges.map((edge, at) => {
    const first = paths.edgeStart[at]!;
    const end = paths.edgeStart[at + 1]!;
    return {
      pathX: stretch(paths.pathX, first, end),
      pathY: stretch(paths.pathY, first, end),
      kind: edgeKind(side, paths.edgeKind[at]!, edge.isDetached),
      phase: side,
      label: labelOf(store, side, edge),
      tensor: edge.tensor,
      gradEdges: edge.gradEdges,
      count: edge.count,
      source: boxOfSource[edge.source]!,
      target: boxOfTarget[edge.target]!,
    };
  });
}

/**
 * A part of `values`. It is copied, because most paths have two points, and a view of a large array
 * costs more than a copy of two numbers.
 */
function stretch(values: Float64Array, first: number, end: number): ArrayLike<number> {
  return end - first === 2 ? [values[first]!, values[first + 1]!] : values.subarray(first, end);
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

/** "[4, 16] 0 … 4.23": a tensor's shape, and its values if they were recorded. */
function labelOf({ trace }: Pictured, side: Side, edge: VisibleEdge): string {
  const { count, shape, tensor } = edge;
  if (count === 1) {
    const values = side === "forward" ? valueText(trace, tensor) : undefined;
    return [trace.text(shape), values?.broken || values?.range].filter(Boolean).join(" ");
  }
  return t(side === "backward" ? "count.gradient" : "count.tensor", { n: count });
}
