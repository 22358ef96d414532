/** The addresses of blocks at a moment, and the free memory between them. */

import { numberOrder } from "../../trace/number_order.ts";
import type { Trace } from "../../trace/trace.ts";
import type { Blocks } from "../blocks/blocks.ts";
import { aliveAt } from "../blocks/moment.ts";

/** Allocators round sizes up to multiples of this. A smaller gap is not free memory. */
const ALIGNMENT_BYTES = 256;

/** The addresses in rows of equal length, one below the other, like the lines of a page. */
export interface BlockMap {
  /** Bytes of one row. */
  readonly row_bytes: number;
  readonly rowCount: number;
  /**
   * The block of each piece; -1 for free memory. If a block continues in the next row, it has two
   * pieces.
   */
  readonly blocks: Int32Array;
  readonly rows: Int32Array;
  /** Offset of the piece from the start of its row. */
  readonly from_bytes: Float64Array;
  readonly to_bytes: Float64Array;
  readonly used_bytes: number;
  /** The free memory between the blocks of a region. */
  readonly free_bytes: number;
  readonly largestFree_bytes: number;
  readonly regionCount: number;
}

const MOST_ROWS = 24;
const LEAST_WIDTH_PX = 1;

/**
 * @param options.width_px width of a row; a piece narrower than a pixel joins the previous piece
 * @param options.kept_bytes how much the allocator holds in addition to the blocks. Gaps with at
 * most this sum can be free memory; the other gaps are between regions of addresses
 */
export function mapBlocks(
  trace: Trace,
  blocks: Blocks,
  time_ns: number,
  {
    width_px,
    kept_bytes,
    rowCount: wanted = 12,
  }: { width_px: number; kept_bytes: number; rowCount?: number },
): BlockMap {
  const address = trace.table("allocations").column("address");
  const alive = aliveAt(blocks, time_ns).filter((block) => blocks.rows[block]! >= 0);
  const addresses = Float64Array.from(alive, (block) => address[blocks.rows[block]!]!);
  const order = numberOrder(addresses);
  // First put all regions one after the other, then cut the whole length into rows.
  const spans = { blocks: [] as number[], from: [] as number[], to: [] as number[] };
  const largestGap_bytes = largestFreeGap(
    Float64Array.from(order, (at) => addresses[at]!),
    Float64Array.from(order, (at) => blocks.bytes[alive[at]!]!),
    kept_bytes,
  );
  let used_bytes = 0;
  let free_bytes = 0;
  let largestFree_bytes = 0;
  let regionCount = 0;
  let end_bytes = -Infinity;
  let place_bytes = 0;
  for (const at of order) {
    const block = alive[at]!;
    const size_bytes = blocks.bytes[block]!;
    const gap_bytes = addresses[at]! - end_bytes;
    if (gap_bytes > largestGap_bytes) {
      regionCount++;
    } else if (gap_bytes >= ALIGNMENT_BYTES) {
      spans.blocks.push(-1);
      spans.from.push(place_bytes);
      spans.to.push(place_bytes + gap_bytes);
      free_bytes += gap_bytes;
      largestFree_bytes = Math.max(largestFree_bytes, gap_bytes);
      place_bytes += gap_bytes;
    }
    spans.blocks.push(block);
    spans.from.push(place_bytes);
    spans.to.push(place_bytes + size_bytes);
    place_bytes += size_bytes;
    used_bytes += size_bytes;
    end_bytes = Math.max(end_bytes, addresses[at]! + size_bytes);
  }
  const rowCount = Math.max(1, Math.min(MOST_ROWS, wanted, alive.length));
  const row_bytes = Math.max(1, Math.ceil(place_bytes / rowCount));
  return {
    row_bytes,
    rowCount,
    ...broken(spans, row_bytes, (LEAST_WIDTH_PX * row_bytes) / width_px),
    used_bytes,
    free_bytes,
    largestFree_bytes,
    regionCount,
  };
}

/**
 * The largest gap that can be free memory. Gaps are added in ascending order, until their sum exceeds
 * `kept_bytes`.
 */
function largestFreeGap(addresses: Float64Array, bytes: Float64Array, kept_bytes: number): number {
  const gaps = addresses
    .map((address, at) => (at ? address - addresses[at - 1]! - bytes[at - 1]! : 0))
    .sort();
  let sum_bytes = 0;
  let largest_bytes = ALIGNMENT_BYTES;
  for (const gap_bytes of gaps) {
    sum_bytes += Math.max(0, gap_bytes);
    if (sum_bytes > kept_bytes) {
      break;
    }
    largest_bytes = Math.max(largest_bytes, gap_bytes);
  }
  return largest_bytes;
}

function broken(
  spans: { blocks: number[]; from: number[]; to: number[] },
  row_bytes: number,
  least_bytes: number,
): Pick<BlockMap, "blocks" | "rows" | "from_bytes" | "to_bytes"> {
  const blocks: number[] = [];
  const rows: number[] = [];
  const from_bytes: number[] = [];
  const to_bytes: number[] = [];
  let drawnTo = 0;
  for (let span = 0; span < spans.blocks.length; span++) {
    // This piece ends less than a pixel after the last drawn piece, so it would be invisible.
    if (spans.to[span]! - drawnTo < least_bytes) {
      continue;
    }
    let from = Math.max(spans.from[span]!, drawnTo);
    const to = spans.to[span]!;
    while (from < to) {
      const row = Math.floor(from / row_bytes);
      const until = Math.min(to, (row + 1) * row_bytes);
      blocks.push(spans.blocks[span]!);
      rows.push(row);
      from_bytes.push(from - row * row_bytes);
      to_bytes.push(until - row * row_bytes);
      from = until;
    }
    drawnTo = to;
  }
  return {
    blocks: Int32Array.from(blocks),
    rows: Int32Array.from(rows),
    from_bytes: Float64Array.from(from_bytes),
    to_bytes: Float64Array.from(to_bytes),
  };
}

/** Moves from block to block in the map of addresses, with keys. */
export const MAP_KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"] as const;
export type MapKey = (typeof MAP_KEYS)[number];

/**
 * The block to which a key leads: left and right by address, up and down to a block in that row.
 *
 * @param block the current block, -1 for none; free memory is skipped
 * @returns -1 if the map has no such block
 */
export function stepInMap(map: BlockMap, block: number, key: MapKey): number {
  const pieces = [...map.blocks.keys()].filter((piece) => map.blocks[piece]! >= 0);
  const at = pieces.findIndex((piece) => map.blocks[piece] === block);
  const [first, last] = [pieces[0] ?? -1, pieces.at(-1) ?? -1];
  const blockOf = (piece: number): number => (piece >= 0 ? map.blocks[piece]! : -1);
  if (key === "Home" || (at < 0 && key !== "End")) {
    return blockOf(first);
  }
  if (key === "End") {
    return blockOf(last);
  }
  if (key === "ArrowLeft") {
    return blockOf(pieces[Math.max(0, at - 1)]!);
  }
  if (key === "ArrowRight") {
    // A block that continues in the next row has two pieces, but is one block.
    return blockOf(pieces.slice(at).find((piece) => map.blocks[piece] !== block) ?? pieces[at]!);
  }
  const own = pieces.filter((piece) => map.blocks[piece] === block);
  const from = key === "ArrowUp" ? own[0]! : own.at(-1)!;
  const row = map.rows[from]! + (key === "ArrowUp" ? -1 : 1);
  const middle = (map.from_bytes[from]! + map.to_bytes[from]!) / 2;
  const away = (piece: number): number =>
    Math.max(map.from_bytes[piece]! - middle, middle - map.to_bytes[piece]!, 0);
  const there = pieces.filter((piece) => map.rows[piece] === row);
  const [nearest] = there.sort((a, b) => away(a) - away(b));
  return blockOf(nearest ?? from);
}
