/** The layered layout of one graph: its connected parts one by one, then packed side by side. */

import { groupBy } from "./adjacency.ts";
import {
  EDGE_CURVE,
  EDGE_FEEDBACK,
  EDGE_LANE,
  type EdgePaths,
  LayoutCancelled,
  type LayoutOptions,
} from "./contract.ts";
import { type Boxes, type Flow, makeFlow } from "./flow.ts";
import { orderRanks } from "./order.ts";
import { connectedParts, packTiles, type Tile } from "./parts.ts";
import { placeVertices } from "./place.ts";
import { PointList } from "./points.ts";
import { makeProper, type Proper } from "./proper.ts";
import { rankBoxes } from "./rank.ts";
import { type Routes, routeEdges } from "./route.ts";
import { snapToPorts } from "./snap.ts";
import { chooseTrunk } from "./trunk.ts";

export interface BoxLayout extends EdgePaths {
  /** Anchor x and centre y of each box. */
  x: Float64Array;
  y: Float64Array;
  width: number;
  height: number;
  trunk: Uint8Array;
  /** x of the main part's trunk. */
  trunkX: number;
  /** Crossings between ranks, edges of a bundle counted once. */
  crossings: number;
}

export interface Settings {
  nodeGap: number;
  rankGap: number;
  laneGap: number;
  laneSpan: number;
  checkCancelled: () => void;
}

export function settingsOf(options: LayoutOptions): Settings {
  const { nodeGap = 24, rankGap = 32, laneGap = 12, laneSpan = 200, isCancelled } = options;
  const checkCancelled = (): void => {
    if (isCancelled?.()) throw new LayoutCancelled();
  };
  return { nodeGap, rankGap, laneGap, laneSpan: Math.max(1, laneSpan), checkCancelled };
}

export function layoutBoxes(boxes: Boxes, settings: Settings): BoxLayout {
  const collected = new Collected(boxes);
  const { part, count } = connectedParts(boxes.count, boxes.source, boxes.target, boxes.byOrder);
  if (count === 1) {
    collected.add(layoutPart(boxes, settings), null, null, boxes);
    return collected.finish(settings);
  }
  const members = groupBy(part, count);
  const partOfEdge = new Int32Array(boxes.source.length);
  for (let e = 0; e < partOfEdge.length; e++) partOfEdge[e] = part[boxes.source[e]!]!;
  const edges = groupBy(partOfEdge, count);
  const local = new Int32Array(boxes.count);
  const place = new Int32Array(boxes.count);
  boxes.byOrder.forEach((v, i) => {
    place[v] = i;
  });
  for (let p = 0; p < count; p++) {
    const nodes = members.list.subarray(members.start[p]!, members.start[p + 1]!);
    const own = edges.list.subarray(edges.start[p]!, edges.start[p + 1]!);
    if (nodes.length === 1 && own.length === 0 && boxes.pin[nodes[0]!] === 0) {
      collected.addLone(nodes[0]!);
      continue;
    }
    const inner = extractPart(boxes, nodes, own, local, place);
    collected.add(layoutPart(inner, settings), nodes, own, inner);
  }
  return collected.finish(settings);
}

interface PartLayout {
  x: Float64Array;
  routes: Routes;
  flow: Flow;
  proper: Proper;
  trunk: Uint8Array;
  crossings: number;
}

function layoutPart(boxes: Boxes, settings: Settings): PartLayout {
  const { checkCancelled } = settings;
  checkCancelled();
  const flow = makeFlow(boxes);
  const rank = rankBoxes(boxes, flow);
  const proper = makeProper(boxes, flow, rank, settings.laneSpan);
  checkCancelled();
  const crossings = orderRanks(proper, boxes.byOrder, checkCancelled);
  const trunk = chooseTrunk(boxes, flow, proper);
  const left = new Float64Array(proper.count);
  const right = new Float64Array(proper.count);
  left.set(boxes.left);
  right.set(boxes.right);
  const extents = { left, right, boxGap: settings.nodeGap, dummyGap: settings.laneGap };
  const x = placeVertices(proper, trunk, extents, checkCancelled);
  snapToPorts(boxes, flow, proper, extents, x);
  checkCancelled();
  const routes = routeEdges(boxes, flow, proper, x, settings);
  return { x, routes, flow, proper, trunk: trunk.onTrunk, crossings };
}

function extractPart(
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

interface Piece {
  layout: PartLayout | null;
  /** Box and edge ids of the piece; null where they are the whole graph's. */
  nodes: Int32Array | null;
  edges: Int32Array | null;
  tile: Tile;
}

/** Gathers the laid-out parts and puts them together. */
class Collected {
  private readonly pieces: Piece[] = [];
  constructor(private readonly boxes: Boxes) {}

  add(layout: PartLayout, nodes: Int32Array | null, edges: Int32Array | null, inner: Boxes): void {
    const { minX, maxX, height } = layout.routes;
    let loop = 0;
    for (let e = 0; e < inner.source.length; e++) if (inner.source[e] === inner.target[e]) loop = 1;
    const pinned = inner.pin.some((pin) => pin !== 0);
    const width = maxX - minX + loop * LOOP_PX;
    this.pieces.push({ layout, nodes, edges, tile: { width, height, x: 0, y: 0, pinned } });
  }

  addLone(node: number): void {
    const { left, right, height } = this.boxes;
    const width = left[node]! + right[node]!;
    const tile = { width, height: height[node]!, x: 0, y: 0, pinned: false };
    this.pieces.push({ layout: null, nodes: Int32Array.of(node), edges: null, tile });
  }

  finish(settings: Settings): BoxLayout {
    const { boxes, pieces } = this;
    const gap = settings.nodeGap;
    const drawn = pieces.filter((piece) => piece.layout !== null);
    const lone = pieces.filter((piece) => piece.layout === null);
    const tiles = drawn.map((piece) => piece.tile);
    if (lone.length > 0) {
      const grid = packTiles(
        lone.map((piece) => piece.tile),
        gap / 2,
      );
      tiles.push({ ...grid, x: 0, y: 0, pinned: false });
    }
    const size = packTiles(tiles, 2 * gap);
    const gridTile = tiles[drawn.length];

    const x = new Float64Array(boxes.count);
    const y = new Float64Array(boxes.count);
    const trunk = new Uint8Array(boxes.count);
    for (const { nodes, tile } of lone) {
      const v = nodes![0]!;
      x[v] = gridTile!.x + tile.x + boxes.left[v]!;
      y[v] = gridTile!.y + tile.y + tile.height / 2;
    }
    let trunkX = 0;
    let longest = -1;
    let crossings = 0;
    for (const { layout, nodes, tile } of drawn) {
      const { routes, proper } = layout!;
      const shift = tile.x - routes.minX;
      for (let i = 0; i < proper.boxCount; i++) {
        const v = nodes === null ? i : nodes[i]!;
        x[v] = layout!.x[i]! + shift;
        y[v] = routes.y[i]! + tile.y;
        trunk[v] = layout!.trunk[i]!;
      }
      crossings += layout!.crossings;
      if (proper.rankCount > longest) {
        longest = proper.rankCount;
        trunkX = shift;
      }
    }
    return { x, y, ...size, trunk, trunkX, crossings, ...this.joinPaths(x, y) };
  }

  private joinPaths(x: Float64Array, y: Float64Array): EdgePaths {
    const { boxes } = this;
    const edgeCount = boxes.source.length;
    const pieceOf = new Int32Array(edgeCount);
    const inPiece = new Int32Array(edgeCount);
    this.pieces.forEach(({ edges }, p) => {
      if (edges === null) return;
      for (let i = 0; i < edges.length; i++) {
        pieceOf[edges[i]!] = p;
        inPiece[edges[i]!] = i;
      }
    });
    const edgeStart = new Int32Array(edgeCount + 1);
    const edgeKind = new Uint8Array(edgeCount);
    const points = new PointList();
    for (let e = 0; e < edgeCount; e++) {
      edgeStart[e] = points.length;
      const { layout, edges, tile } = this.pieces[pieceOf[e]!]!;
      const flow = layout === null ? -1 : layout.flow.ofEdge[edges === null ? e : inPiece[e]!]!;
      if (flow < 0 || layout === null) {
        edgeKind[e] = EDGE_FEEDBACK;
        addLoop(points, boxes, boxes.source[e]!, x, y);
        continue;
      }
      const { routes, proper } = layout;
      const reversed = layout.flow.reversed[flow] === 1;
      edgeKind[e] = reversed ? EDGE_FEEDBACK : proper.lane[flow] ? EDGE_LANE : EDGE_CURVE;
      const first = routes.start[flow]!;
      const last = routes.start[flow + 1]! - 1;
      const shiftX = tile.x - routes.minX;
      for (let i = first; i <= last; i++) {
        const k = reversed ? last - (i - first) : i;
        points.push(routes.points.x[k]! + shiftX, routes.points.y[k]! + tile.y);
      }
    }
    edgeStart[edgeCount] = points.length;
    const pathX = points.x.slice(0, points.length);
    const pathY = points.y.slice(0, points.length);
    return { edgeStart, pathX, pathY, edgeKind };
  }
}

const LOOP_PX = 10;

/** A self loop: a small ear on the box's right side. */
function addLoop(
  points: PointList,
  boxes: Boxes,
  v: number,
  x: Float64Array,
  y: Float64Array,
): void {
  const side = x[v]! + boxes.right[v]!;
  const by = boxes.height[v]! / 4;
  points.push(side, y[v]! - by);
  points.push(side + LOOP_PX, y[v]! - by);
  points.push(side + LOOP_PX, y[v]! + by);
  points.push(side, y[v]! + by);
}
