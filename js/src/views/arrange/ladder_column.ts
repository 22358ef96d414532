/**
 * The right column of a ladder. Its boxes have the heights and the x of the left column until the
 * column is moved to the right.
 */
import { gradientPaths, type NestedResult } from "../../layout/index.ts";
import type { Pictured } from "../../model/state/pictured.ts";
import { extentOf } from "../scene/extent.ts";
import type { SceneBox, SceneEdge } from "../scene/scene.ts";
import { SpatialIndex } from "../scene/spatial_index.ts";
import { sceneEdges } from "./arrange.ts";
import type { BoxContent } from "./box_content.ts";
import { type LadderArrangement, STACK_GAP_PX } from "./ladder_rows.ts";

/** An edge whose ends differ in x by at most this much may become a straight line. */
const NEAR_PX = 24;

export interface Column {
  readonly boxes: SceneBox[];
  readonly edges: SceneEdge[];
  /** The lowest box of each item, by position in `boxes`; -1 for none. */
  readonly bottom: Int32Array;
}

/**
 * Grad nodes at the heights of the ops that made them.
 *
 * @param first position of the column's first box among all boxes of the scene
 */
export function rightColumn(
  store: Pictured,
  { tree, graph, rows, gradEdges }: LadderArrangement,
  result: NestedResult,
  first: number,
): Column {
  const boxes: SceneBox[] = [];
  const inner: SceneEdge[] = [];
  const top = new Int32Array(tree.items.length).fill(-1);
  const bottom = new Int32Array(tree.items.length).fill(-1);
  rows.forEach((row, item) => {
    const x = result.x[item]!;
    let y = result.y[item]! + result.height[item]! / 2;
    row.forEach((content, at) => {
      y -= content.height / 2;
      const box = boxes.push({ ...content, x, y }) - 1;
      if (at === 0) {
        bottom[item] = box;
      } else {
        const below = boxes[top[item]!]!;
        const passing = edgesBetween(store, below, content);
        if (passing) {
          const [from, to] = [below.y - below.height / 2, y + content.height / 2];
          inner.push(innerEdge(first + top[item]!, first + box, x, from, to, passing));
        }
      }
      top[item] = box;
      y -= content.height / 2 + STACK_GAP_PX;
    });
  });
  // For now the column has the same x as the left one.
  const paths = gradientPaths(
    result,
    { source: graph.edgeSource, target: graph.edgeTarget },
    {
      source: gradEdges.map(({ source }) => source),
      target: gradEdges.map(({ target }) => target),
    },
  );
  const inScene = (box: number): number => (box < 0 ? -1 : first + box);
  const backward = sceneEdges(
    store,
    { side: "backward", edges: gradEdges },
    paths,
    top.map(inScene),
    bottom.map(inScene),
  );
  return { boxes, edges: [...straightened(backward, boxes), ...inner], bottom };
}

/**
 * The `grad_edges` that are drawn as the line from one backward box up to the next box. Empty if
 * the line represents a tensor of an op; undefined if no line connects the two boxes.
 */
function edgesBetween(
  { trace }: Pictured,
  below: BoxContent,
  above: BoxContent,
): number[] | undefined {
  if (above.op >= 0) {
    const feeds = (edge: number): boolean => trace.at("op_edges", "target", edge) === above.op;
    return below.op < 0 || Array.from(trace.edgesFrom(below.op)).some(feeds) ? [] : undefined;
  }
  const edges = below.gradNode < 0 ? [] : Array.from(trace.gradEdgesFrom(below.gradNode));
  const between = edges.filter((edge) => trace.at("grad_edges", "target", edge) === above.gradNode);
  return between.length ? between : undefined;
}

/**
 * Gradient edges use the paths of forward edges. Make an edge straight if its path only goes around
 * boxes that the right column does not have.
 */
function straightened(edges: SceneEdge[], boxes: readonly SceneBox[]): SceneEdge[] {
  const index = new SpatialIndex(boxes.map(extentOf));
  return edges.map((edge) => {
    const last = edge.pathX.length - 1;
    const [fromY, toY] = [edge.pathY[0]!, edge.pathY[last]!];
    const [fromX, toX] = [edge.pathX[0]!, edge.pathX[last]!];
    if (last < 2 || Math.abs(fromX - toX) > NEAR_PX || toY >= fromY) {
      return edge;
    }
    const x = (fromX + toX) / 2;
    const between = { left: x - 6, right: x + 6, top: toY + 1, bottom: fromY - 1 };
    return index.within(between).length ? edge : { ...edge, pathX: [x, x], pathY: [fromY, toY] };
  });
}

function innerEdge(
  source: number,
  target: number,
  x: number,
  from: number,
  to: number,
  gradEdges: readonly number[],
): SceneEdge {
  return {
    pathX: [x, x],
    pathY: [from, to],
    kind: "gradient",
    phase: "backward",
    label: "",
    tensor: -1,
    gradEdges,
    count: 1,
    source,
    target,
  };
}
