/** The scene of a ladder: forward on the left, going down; backward on the right, going up. */
import { layoutLadder, type NestedResult } from "../../layout/index.ts";
import type { Pictured } from "../../model/pictured.ts";
import type { Steps } from "../../model/visible.ts";
import { t } from "../../words/page.ts";
import { composeSteps, sceneEdgesSteps, trunkX } from "./arrange.ts";
import { type BoxContent, extentOf } from "./box_content.ts";
import { ladderFrames, spanning } from "./ladder_frames.ts";
import { type LadderArrangement, STACK_GAP_PX } from "./ladder_rows.ts";
import { ladderShift } from "./ladder_shift.ts";
import type { Scene, SceneBox, SceneEdge, SceneLabel } from "./scene.ts";
import { Extents, SpatialIndex } from "./spatial_index.ts";

const GUTTER_PX = 72;
const HEAD_PX = 30;
/** Ends of an edge that are no further apart sideways may be joined by a straight line. */
const NEAR_PX = 24;

export function* composeLadderSteps(
  store: Pictured,
  arrangement: LadderArrangement,
  result: NestedResult,
): Steps<Scene> {
  const { tree, graph, rows, gradEdges, withoutRow } = arrangement;
  const left = yield* composeSteps(store, arrangement, result);

  const shown = shownItems(arrangement);
  const isWide = spanning(arrangement, result, shown);
  const shift = ladderShift(result, shown, isWide, GUTTER_PX);
  const ladder = layoutLadder(
    {
      forward: result,
      parent: graph.parent,
      open: graph.open,
      edgeSource: graph.edgeSource,
      edgeTarget: graph.edgeTarget,
      paired: shown,
      gradSource: gradEdges.source,
      gradTarget: gradEdges.target,
    },
    { gutterPx: shift - result.totalWidth },
  );
  const boxes: SceneBox[] = [...left.boxes];
  const inner: SceneEdge[] = [];
  const rungs = new Map<number, Scene["rungs"][number]>();
  const top = new Int32Array(tree.items.length).fill(-1);
  const bottom = new Int32Array(tree.items.length).fill(-1);
  rows.forEach((row, item) => {
    const x = result.x[item]! + ladder.shiftX;
    let y = result.y[item]! + result.height[item]! / 2;
    row.forEach((content, at) => {
      y -= content.height / 2;
      const box = boxes.push({ ...content, x, y }) - 1;
      if (at === 0) {
        bottom[item] = box;
      } else {
        const below = boxes[top[item]!]!;
        const gradEdges = edgesBetween(store, below, content);
        if (gradEdges) {
          const [from, to] = [below.y - below.height / 2, y + content.height / 2];
          inner.push(innerEdge(top[item]!, box, x, from, to, gradEdges));
        }
      }
      top[item] = box;
      y -= content.height / 2 + STACK_GAP_PX;
    });
    if (row.length) {
      const forward = arrangement.contents[item]!;
      const y = result.y[item]!;
      const known = rungs.get(y);
      const fromX = result.x[item]! + forward.width / 2 + 6;
      const toX = x - row[0]!.width / 2 - 6;
      // Boxes side by side share a rung: it must not run through the one between.
      rungs.set(y, {
        y,
        fromX: Math.max(fromX, known?.fromX ?? fromX),
        toX: Math.min(toX, known?.toX ?? toX),
      });
    }
  });
  const backward = yield* sceneEdgesSteps(
    store,
    { side: "backward", edges: gradEdges },
    ladder,
    top,
    bottom,
  );
  yield;
  return {
    width: ladder.totalWidth + rightOverhang(rows),
    height: result.totalHeight,
    focusX: trunkX(result) + ladder.shiftX / 2,
    boxes,
    frames: ladderFrames(store, arrangement, result, ladder, isWide),
    edges: [...left.edges, ...straightened(backward, boxes.slice(left.boxes.length)), ...inner],
    labels: boxes.length ? columnHeads(result, ladder.shiftX, withoutRow) : [],
    rungs: [...rungs.values()],
  };
}

/** 1 for what the right column repeats: boxes with grad nodes, and the open groups around them. */
function shownItems({ tree, rows }: LadderArrangement): Uint8Array {
  const shown = Uint8Array.from(rows, (row) => (row.length ? 1 : 0));
  for (let item = shown.length - 1; item >= 0; item--) {
    const { parent } = tree.items[item]!;
    if (shown[item] && parent >= 0) {
      shown[parent] = 1;
    }
  }
  return shown;
}

/**
 * The gradients that go from the lower box of a row straight to the next one up: rows of
 * `grad_edges`, none where it is an op's tensor; undefined where nothing goes.
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
 * Gradients take the way of the forward's edges; where that bows round boxes which the right column
 * does not have, they go straight.
 */
function straightened(edges: SceneEdge[], boxes: readonly SceneBox[]): SceneEdge[] {
  const extents = new Extents(boxes.length);
  boxes.forEach(({ x, y, width, height }, key) => {
    extents.set(key, x - width / 2, y - height / 2, x + width / 2, y + height / 2);
  });
  const index = new SpatialIndex(extents);
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

function rightOverhang(rows: LadderArrangement["rows"]): number {
  return rows.some((row) => row.some((box) => extentOf(box) > box.width / 2)) ? 8 : 0;
}

function columnHeads(result: NestedResult, shiftX: number, withoutRow: number): SceneLabel[] {
  const x = trunkX(result);
  const head = (at: number, text: string, tone: SceneLabel["tone"]): SceneLabel => ({
    x: at,
    y: -HEAD_PX / 2 - 4,
    text,
    align: "middle",
    tone,
  });
  const heads = [
    head(x, t("ladder.forward"), "forward"),
    head(x + shiftX, t("ladder.backward"), "backward"),
  ];
  if (withoutRow) {
    const text = t("ladder.without_row", { n: withoutRow });
    heads.push({ ...head(x + shiftX, text, "soft"), y: result.totalHeight + 18 });
  }
  return heads;
}
