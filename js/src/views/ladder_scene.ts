/** The scene of a ladder: forward on the left, going down; backward on the right, going up. */
import { layoutLadder, type NestedResult } from "../layout/index.ts";
import type { Store } from "../model/store.ts";
import { compose, frameContent, sceneEdges } from "./arrange.ts";
import { extentOf } from "./box_content.ts";
import { type LadderArrangement, STACK_GAP_PX } from "./ladder_rows.ts";
import { countOf } from "./quantities.ts";
import type { Scene, SceneBox, SceneEdge, SceneFrame, SceneLabel } from "./scene.ts";

const GUTTER_PX = 72;
const HEAD_PX = 30;

export function composeLadder(
  store: Store,
  arrangement: LadderArrangement,
  result: NestedResult,
): Scene {
  const { tree, graph, rows, gradEdges, withoutRow } = arrangement;
  const left = compose(store, arrangement, result);
  const ladder = layoutLadder(
    {
      forward: result,
      parent: graph.parent,
      open: graph.open,
      edgeSource: graph.edgeSource,
      edgeTarget: graph.edgeTarget,
      paired: Uint8Array.from(rows, (row) => (row.length ? 1 : 0)),
      gradSource: gradEdges.source,
      gradTarget: gradEdges.target,
    },
    { gutterPx: GUTTER_PX },
  );
  const boxes: SceneBox[] = [...left.boxes];
  const inner: SceneEdge[] = [];
  const rungs: { fromX: number; toX: number; y: number }[] = [];
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
        if (handsOn(store, below.gradNode, content.gradNode)) {
          inner.push(
            innerEdge(top[item]!, box, x, below.y - below.height / 2, y + content.height / 2),
          );
        }
      }
      top[item] = box;
      y -= content.height / 2 + STACK_GAP_PX;
    });
    if (row.length) {
      const forward = arrangement.contents[item]!;
      rungs.push({
        fromX: result.x[item]! + forward.width / 2 + 6,
        toX: x - row[0]!.width / 2 - 6,
        y: result.y[item]!,
      });
    }
  });
  const isWide = spanning(arrangement, result, ladder.shown);
  return {
    width: ladder.totalWidth + rightOverhang(rows),
    height: result.totalHeight,
    boxes,
    frames: ladderFrames(store, arrangement, result, ladder.shiftX, ladder.shown, isWide),
    edges: [
      ...left.edges,
      ...sceneEdges(store, { side: "backward", edges: gradEdges }, ladder, top, bottom),
      ...inner,
    ],
    labels: columnHeads(result, ladder.shiftX, withoutRow),
    rungs,
  };
}

function handsOn({ trace }: Store, source: number, target: number): boolean {
  return Array.from(trace.gradEdgesFrom(source)).some(
    (edge) => trace.at("grad_edges", "target", edge) === target,
  );
}

function innerEdge(source: number, target: number, x: number, from: number, to: number): SceneEdge {
  return {
    pathX: [x, x],
    pathY: [from, to],
    kind: "gradient",
    phase: "backward",
    label: "",
    tensor: -1,
    count: 1,
    source,
    target,
  };
}

function rightOverhang(rows: LadderArrangement["rows"]): number {
  return rows.some((row) => row.some((box) => extentOf(box) > box.width / 2)) ? 8 : 0;
}

/**
 * Which open groups are drawn as one frame across both columns: those beside which nothing else
 * lies, so that the frame covers nothing foreign.
 */
function spanning(
  { tree }: LadderArrangement,
  result: NestedResult,
  shown: Uint8Array,
): Uint8Array {
  const { items } = tree;
  const spans = new Uint8Array(items.length);
  const siblings = new Map<number, number[]>();
  items.forEach((item, index) => {
    const list = siblings.get(item.parent) ?? [];
    list.push(index);
    siblings.set(item.parent, list);
  });
  const topOf = (item: number): number => result.y[item]! - result.height[item]! / 2;
  const bottomOf = (item: number): number => result.y[item]! + result.height[item]! / 2;
  for (const [parent, list] of siblings) {
    list.sort((a, b) => topOf(a) - topOf(b));
    let reached = Number.NEGATIVE_INFINITY;
    list.forEach((item, at) => {
      const next = list[at + 1];
      const isAlone =
        topOf(item) >= reached && (next === undefined || bottomOf(item) <= topOf(next));
      reached = Math.max(reached, bottomOf(item));
      spans[item] = items[item]!.isOpen && shown[item] && isAlone && parent < item ? 1 : 0;
    });
  }
  // Parents come before children.
  items.forEach((item, index) => {
    if (item.parent >= 0 && !spans[item.parent]) {
      spans[index] = 0;
    }
  });
  return spans;
}

function ladderFrames(
  store: Store,
  { tree }: LadderArrangement,
  result: NestedResult,
  shiftX: number,
  shown: Uint8Array,
  isWide: Uint8Array,
): SceneFrame[] {
  const frames: SceneFrame[] = [];
  const depth = new Int32Array(tree.items.length);
  tree.items.forEach((item, index) => {
    depth[index] = item.parent >= 0 ? depth[item.parent]! + 1 : 0;
    if (!item.isOpen) {
      return;
    }
    const place = {
      x: result.x[index]! + (isWide[index] ? shiftX / 2 : 0),
      y: result.y[index]!,
      width: result.width[index]! + (isWide[index] ? shiftX : 0),
      height: result.height[index]!,
      depth: depth[index]!,
    };
    frames.push({ ...frameContent(store, item.key, "forward"), ...place });
    if (shown[index] && !isWide[index]) {
      const content = frameContent(store, item.key, "backward");
      frames.push({ ...content, ...place, x: place.x + shiftX, id: `${content.id}:backward` });
    }
  });
  return frames;
}

function columnHeads(result: NestedResult, shiftX: number, withoutRow: number): SceneLabel[] {
  const trunk = result.trunk.indexOf(1);
  const x = trunk >= 0 ? result.x[trunk]! : result.totalWidth / 2;
  const head = (at: number, text: string, tone: SceneLabel["tone"]): SceneLabel => ({
    x: at,
    y: -HEAD_PX / 2 - 4,
    text,
    align: "middle",
    tone,
  });
  const heads = [head(x, "forward ↓", "forward"), head(x + shiftX, "backward ↑", "backward")];
  if (withoutRow) {
    const text = `${countOf(withoutRow, "grad node")} made by no op of the forward: see Backward`;
    heads.push({ ...head(x + shiftX, text, "soft"), y: result.totalHeight + 18 });
  }
  return heads;
}
