/** The layered layout of one graph: its connected parts one by one, then packed side by side. */

import { groupBy } from "../adjacency.ts";
import type { EdgePaths } from "../contract.ts";
import { layoutComponent, type Settings } from "./component.ts";
import type { ComponentLayout } from "./component_layout.ts";
import { connectedComponents, packTiles, type Tile } from "./components.ts";
import type { Boxes } from "./flow.ts";

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

export function layoutBoxes(boxes: Boxes, settings: Settings): BoxLayout {
  const collected = new Collected(boxes);
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
  for (let c = 0; c < count; c++) {
    const nodes = nodesOf.list.subarray(nodesOf.start[c]!, nodesOf.start[c + 1]!);
    const edges = edgesOf.list.subarray(edgesOf.start[c]!, edgesOf.start[c + 1]!);
    const isLone = nodes.length === 1 && edges.length === 0 && boxes.pin[nodes[0]!] === 0;
    if (isLone && count > 1) {
      collected.addLone(nodes[0]!);
      continue;
    }
    const own = extractComponent(boxes, nodes, edges, local, place);
    const isPinned = own.pin.some((pin) => pin !== 0);
    collected.add(layoutComponent(own, settings), nodes, edges, isPinned);
  }
  return collected.finish(settings);
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

interface Piece {
  layout: ComponentLayout;
  /** Box and edge ids of the piece. */
  nodes: Int32Array;
  edges: Int32Array;
  tile: Tile;
}

/** A box without edges. */
interface LoneBox {
  node: number;
  tile: Tile;
}

/** Gathers the laid-out parts and puts them together. */
class Collected {
  private readonly pieces: Piece[] = [];
  private readonly lone: LoneBox[] = [];
  constructor(private readonly boxes: Boxes) {}

  add(layout: ComponentLayout, nodes: Int32Array, edges: Int32Array, pinned: boolean): void {
    const width = layout.maxX - layout.minX;
    const tile = { width, height: layout.height, x: 0, y: 0, pinned };
    this.pieces.push({ layout, nodes, edges, tile });
  }

  addLone(node: number): void {
    const { left, right, height } = this.boxes;
    const width = left[node]! + right[node]!;
    this.lone.push({ node, tile: { width, height: height[node]!, x: 0, y: 0, pinned: false } });
  }

  finish(settings: Settings): BoxLayout {
    const { boxes, pieces, lone } = this;
    const gap = settings.nodeGap;
    const tiles = pieces.map((piece) => piece.tile);
    // Boxes without edges stand together, in a grid.
    const grid: Tile = { width: 0, height: 0, x: 0, y: 0, pinned: false };
    if (lone.length > 0) {
      const tilesOfGrid = lone.map(({ tile }) => tile);
      Object.assign(grid, packTiles(tilesOfGrid, gap / 2));
      tiles.push(grid);
    }
    const size = packTiles(tiles, 2 * gap);

    const x = new Float64Array(boxes.count);
    const y = new Float64Array(boxes.count);
    const onMainPath = new Uint8Array(boxes.count);
    for (const { node, tile } of lone) {
      x[node] = grid.x + tile.x + boxes.left[node]!;
      y[node] = grid.y + tile.y + tile.height / 2;
    }
    let mainPathX = 0;
    let longest = -1;
    for (const { layout, nodes, tile } of pieces) {
      const shift = tile.x - layout.minX;
      nodes.forEach((v, i) => {
        x[v] = layout.x[i]! + shift;
        y[v] = layout.y[i]! + tile.y;
        onMainPath[v] = layout.onMainPath[i]!;
      });
      if (layout.rankCount > longest) {
        longest = layout.rankCount;
        mainPathX = shift;
      }
    }
    return { x, y, ...size, onMainPath, mainPathX, ...this.joinPaths() };
  }

  private joinPaths(): EdgePaths {
    const edgeCount = this.boxes.source.length;
    const pieceOf = new Int32Array(edgeCount);
    const inPiece = new Int32Array(edgeCount);
    let length = 0;
    this.pieces.forEach(({ layout, edges }, p) => {
      length += layout.points.length;
      edges.forEach((e, i) => {
        pieceOf[e] = p;
        inPiece[e] = i;
      });
    });
    const edgeStart = new Int32Array(edgeCount + 1);
    const edgeKind = new Uint8Array(edgeCount);
    const pathX = new Float64Array(length);
    const pathY = new Float64Array(length);
    let at = 0;
    for (let e = 0; e < edgeCount; e++) {
      edgeStart[e] = at;
      const { layout, tile } = this.pieces[pieceOf[e]!]!;
      const own = inPiece[e]!;
      edgeKind[e] = layout.edgeKind[own]!;
      for (let i = layout.edgeStart[own]!; i < layout.edgeStart[own + 1]!; i++) {
        pathX[at] = layout.points.x[i]! + tile.x - layout.minX;
        pathY[at++] = layout.points.y[i]! + tile.y;
      }
    }
    edgeStart[edgeCount] = at;
    return { edgeStart, pathX, pathY, edgeKind };
  }
}
