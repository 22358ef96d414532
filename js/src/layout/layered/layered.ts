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
  const { part, count } = connectedComponents(
    boxes.count,
    boxes.source,
    boxes.target,
    boxes.byOrder,
  );
  if (count === 1) {
    collected.add(layoutComponent(boxes, settings), null, null, isPinned(boxes));
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
    const inner = extractComponent(boxes, nodes, own, local, place);
    collected.add(layoutComponent(inner, settings), nodes, own, isPinned(inner));
  }
  return collected.finish(settings);
}

function isPinned(boxes: Boxes): boolean {
  return boxes.pin.some((pin) => pin !== 0);
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
  layout: ComponentLayout | null;
  /** Box and edge ids of the piece; null where they are the whole graph's. */
  nodes: Int32Array | null;
  edges: Int32Array | null;
  tile: Tile;
}

/** Gathers the laid-out parts and puts them together. */
class Collected {
  private readonly pieces: Piece[] = [];
  constructor(private readonly boxes: Boxes) {}

  add(
    layout: ComponentLayout,
    nodes: Int32Array | null,
    edges: Int32Array | null,
    pinned: boolean,
  ): void {
    const width = layout.maxX - layout.minX;
    this.pieces.push({
      layout,
      nodes,
      edges,
      tile: { width, height: layout.height, x: 0, y: 0, pinned },
    });
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
    const onMainPath = new Uint8Array(boxes.count);
    for (const { nodes, tile } of lone) {
      const v = nodes![0]!;
      x[v] = gridTile!.x + tile.x + boxes.left[v]!;
      y[v] = gridTile!.y + tile.y + tile.height / 2;
    }
    let mainPathX = 0;
    let longest = -1;
    for (const { layout, nodes, tile } of drawn) {
      const part = layout!;
      const shift = tile.x - part.minX;
      for (let i = 0; i < part.x.length; i++) {
        const v = nodes === null ? i : nodes[i]!;
        x[v] = part.x[i]! + shift;
        y[v] = part.y[i]! + tile.y;
        onMainPath[v] = part.onMainPath[i]!;
      }
      if (part.rankCount > longest) {
        longest = part.rankCount;
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
      length += layout?.points.length ?? 0;
      edges?.forEach((e, i) => {
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
      const { layout, edges, tile } = this.pieces[pieceOf[e]!]!;
      const part = layout!;
      const own = edges === null ? e : inPiece[e]!;
      edgeKind[e] = part.edgeKind[own]!;
      for (let i = part.edgeStart[own]!; i < part.edgeStart[own + 1]!; i++) {
        pathX[at] = part.points.x[i]! + tile.x - part.minX;
        pathY[at++] = part.points.y[i]! + tile.y;
      }
    }
    edgeStart[edgeCount] = at;
    return { edgeStart, pathX, pathY, edgeKind };
  }
}
