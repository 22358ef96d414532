/** The layered layout of one graph: its connected parts one by one, then packed side by side. */

import { groupBy } from "../adjacency.ts";
import { contentKey } from "../cache.ts";
import type { EdgePaths } from "../contract.ts";
import { PointList } from "../points.ts";
import { layoutComponent, type Settings } from "./component.ts";
import type { ComponentLayout } from "./component_layout.ts";
import { connectedComponents, cutIntoSections, packTiles, type Tile } from "./components.ts";
import { type Boxes, CUT_ABOVE, CUT_BELOW } from "./flow.ts";

export interface BoxLayout extends EdgePaths {
  /** Anchor x and centre y of each box. */
  x: Float64Array;
  y: Float64Array;
  width: number;
  height: number;
  onMainPath: Uint8Array;
  /** x of the main part's main path. */
  mainPathX: number;
}

/** One laid-out part: a connected component, or all boxes without edges. */
interface Piece {
  layout: ComponentLayout;
  /** Box and edge ids of the piece. */
  nodes: Int32Array;
  edges: Int32Array;
  isPinned: boolean;
}

export function layoutBoxes(boxes: Boxes, settings: Settings): BoxLayout {
  const { source, target, byOrder } = boxes;
  const { component, count } = connectedComponents(boxes.count, source, target, byOrder);
  const nodesOf = groupBy(component, count);
  const edgesOf = groupBy(
    source.map((v) => component[v]!),
    count,
  );
  const local = new Int32Array(boxes.count);
  const place = new Int32Array(boxes.count);
  byOrder.forEach((v, i) => {
    place[v] = i;
  });
  const pieces: Piece[] = [];
  const lone: number[] = [];
  for (let c = 0; c < count; c++) {
    const nodes = nodesOf.list.subarray(nodesOf.start[c]!, nodesOf.start[c + 1]!);
    const edges = edgesOf.list.subarray(edgesOf.start[c]!, edgesOf.start[c + 1]!);
    const isLone = nodes.length === 1 && edges.length === 0 && boxes.pin[nodes[0]!] === 0;
    if (isLone && count > 1) {
      lone.push(nodes[0]!);
      continue;
    }
    const own = extractComponent(boxes, nodes, edges, local, place);
    const isPinned = own.pin.some((pin) => pin !== 0);
    pieces.push({ layout: layoutSections(own, settings), nodes, edges, isPinned });
  }
  if (lone.length > 0) {
    const layout = gridOf(boxes, lone, settings.nodeGap / 2);
    const [nodes, edges] = [Int32Array.from(lone), new Int32Array(0)];
    pieces.push({ layout, nodes, edges, isPinned: false });
  }
  return packed(boxes, pieces, 2 * settings.nodeGap);
}

/** Lay out the sections of a long part, equal ones once, and put them below each other. */
function layoutSections(boxes: Boxes, settings: Settings): ComponentLayout {
  const sections = cutIntoSections(boxes);
  if (sections.length === 1) return layoutComponent(boxes, settings);
  const [local, place] = [new Int32Array(boxes.count), new Int32Array(boxes.count)];
  boxes.byOrder.forEach((v, i) => {
    place[v] = i;
  });
  const layouts = new Map<string, ComponentLayout>();
  const [pieces, tiles]: [Piece[], Tile[]] = [[], []];
  const whole = {
    x: new Float64Array(boxes.count),
    y: new Float64Array(boxes.count),
    minX: Number.POSITIVE_INFINITY,
    maxX: Number.NEGATIVE_INFINITY,
    height: 0,
    onMainPath: new Uint8Array(boxes.count),
    rankCount: 1,
  };
  sections.forEach(({ top, ...section }, s) => {
    const [nodes, edges] = [Int32Array.from(section.nodes), Int32Array.from(section.edges)];
    const own = extractComponent(boxes, nodes, edges, local, place);
    const bottom = sections[s + 1]?.top ?? -1;
    if (top >= 0) own.pin[local[top]!] = CUT_ABOVE;
    if (bottom >= 0) own.pin[local[bottom]!] = CUT_BELOW;
    const key = contentKey(own, settings);
    const layout = layouts.get(key) ?? layoutComponent(own, settings);
    layouts.set(key, layout);
    // The box at the cut has the same place in both sections.
    const x = top < 0 ? 0 : whole.x[top]! - layout.x[local[top]!]!;
    const y = top < 0 ? 0 : whole.y[top]! - layout.y[local[top]!]!;
    nodes.forEach((v, i) => {
      whole.x[v] = layout.x[i]! + x;
      whole.y[v] = layout.y[i]! + y;
      whole.onMainPath[v]! |= layout.onMainPath[i]!;
    });
    whole.minX = Math.min(whole.minX, layout.minX + x);
    whole.maxX = Math.max(whole.maxX, layout.maxX + x);
    whole.height = layout.height + y;
    whole.rankCount += layout.rankCount - 1;
    pieces.push({ layout, nodes, edges, isPinned: false });
    tiles.push({ x: layout.minX + x, y, width: 0, height: 0, pinned: false });
  });
  return { ...whole, ...joinPaths(boxes, pieces, tiles) };
}

/** Place all boxes without edges in a grid. */
function gridOf(boxes: Boxes, lone: readonly number[], gap: number): ComponentLayout {
  const tiles = lone.map((v): Tile => {
    const width = boxes.left[v]! + boxes.right[v]!;
    return { width, height: boxes.height[v]!, x: 0, y: 0, pinned: false };
  });
  const { width, height } = packTiles(tiles, gap);
  return {
    x: Float64Array.from(lone, (v, i) => tiles[i]!.x + boxes.left[v]!),
    y: Float64Array.from(tiles, (tile) => tile.y + tile.height / 2),
    minX: 0,
    maxX: width,
    height,
    onMainPath: new Uint8Array(lone.length),
    rankCount: 0,
    edgeStart: new Int32Array(1),
    edgeKind: new Uint8Array(0),
    points: new PointList(),
  };
}

function extractComponent(
  boxes: Boxes,
  nodes: Int32Array,
  edges: Int32Array,
  local: Int32Array,
  place: Int32Array,
): Boxes {
  const pick = (values: Float64Array, ids: Int32Array): Float64Array => {
    const picked = new Float64Array(ids.length);
    for (let i = 0; i < ids.length; i++) picked[i] = values[ids[i]!]!;
    return picked;
  };
  const pin = new Int8Array(nodes.length);
  for (let i = 0; i < nodes.length; i++) {
    local[nodes[i]!] = i;
    pin[i] = boxes.pin[nodes[i]!]!;
  }
  const source = new Int32Array(edges.length);
  const target = new Int32Array(edges.length);
  const bundle = new Int32Array(edges.length);
  const bundles = new Map<number, number>();
  for (let i = 0; i < edges.length; i++) {
    source[i] = local[boxes.source[edges[i]!]!]!;
    target[i] = local[boxes.target[edges[i]!]!]!;
    const key = boxes.bundle[edges[i]!]!;
    let id = bundles.get(key);
    if (id === undefined) {
      id = bundles.size;
      bundles.set(key, id);
    }
    bundle[i] = id;
  }
  const byOrder = nodes.slice().sort((a, b) => place[a]! - place[b]!);
  for (let i = 0; i < byOrder.length; i++) byOrder[i] = local[byOrder[i]!]!;
  return {
    count: nodes.length,
    left: pick(boxes.left, nodes),
    right: pick(boxes.right, nodes),
    height: pick(boxes.height, nodes),
    pin,
    byOrder,
    source,
    target,
    weight: pick(boxes.weight, edges),
    bundle,
    bundleCount: bundles.size,
    sourcePort: pick(boxes.sourcePort, edges),
    targetPort: pick(boxes.targetPort, edges),
  };
}

/** Put the pieces side by side. */
function packed(boxes: Boxes, pieces: readonly Piece[], gap: number): BoxLayout {
  const tiles = pieces.map(({ layout, isPinned }): Tile => {
    const { minX, maxX, height } = layout;
    return { width: maxX - minX, height, x: 0, y: 0, pinned: isPinned };
  });
  const size = packTiles(tiles, gap);
  const x = new Float64Array(boxes.count);
  const y = new Float64Array(boxes.count);
  const onMainPath = new Uint8Array(boxes.count);
  let mainPathX = 0;
  let longest = -1;
  pieces.forEach(({ layout, nodes }, p) => {
    const shift = tiles[p]!.x - layout.minX;
    nodes.forEach((v, i) => {
      x[v] = layout.x[i]! + shift;
      y[v] = layout.y[i]! + tiles[p]!.y;
      onMainPath[v] = layout.onMainPath[i]!;
    });
    if (layout.rankCount > longest) {
      longest = layout.rankCount;
      mainPathX = shift;
    }
  });
  const { points, ...paths } = joinPaths(boxes, pieces, tiles);
  const [pathX, pathY] = [points.x, points.y].map((at) => at.slice(0, points.length));
  return { x, y, ...size, onMainPath, mainPathX, ...paths, pathX: pathX!, pathY: pathY! };
}

function joinPaths(boxes: Boxes, pieces: readonly Piece[], tiles: readonly Tile[]) {
  const edgeCount = boxes.source.length;
  const pieceOf = new Int32Array(edgeCount);
  const inPiece = new Int32Array(edgeCount);
  let length = 0;
  pieces.forEach(({ layout, edges }, p) => {
    length += layout.points.length;
    edges.forEach((e, i) => {
      pieceOf[e] = p;
      inPiece[e] = i;
    });
  });
  const edgeStart = new Int32Array(edgeCount + 1);
  const edgeKind = new Uint8Array(edgeCount);
  const points = new PointList(length);
  for (let e = 0; e < edgeCount; e++) {
    edgeStart[e] = points.length;
    const { layout } = pieces[pieceOf[e]!]!;
    const tile = tiles[pieceOf[e]!]!;
    const own = inPiece[e]!;
    edgeKind[e] = layout.edgeKind[own]!;
    for (let i = layout.edgeStart[own]!; i < layout.edgeStart[own + 1]!; i++) {
      points.push(layout.points.x[i]! + tile.x - layout.minX, layout.points.y[i]! + tile.y);
    }
  }
  edgeStart[edgeCount] = points.length;
  return { edgeStart, edgeKind, points };
}
