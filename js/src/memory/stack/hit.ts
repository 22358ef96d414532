/** Finds what is at a position in the stacked picture. */
import type { Blocks } from "../blocks/blocks.ts";
import type { StackPicture } from "./stack_window.ts";

export type TimelineHit =
  | { kind: "block"; block: number }
  /**
   * The band, which stands for all blocks that are too small to be drawn. `allocationKind` is the
   * kind at that height.
   */
  | { kind: "band"; allocationKind: number; bytes: number }
  | { kind: "empty" };

export function hitAt(
  blocks: Blocks,
  picture: StackPicture,
  time_ns: number,
  height_bytes: number,
): TimelineHit {
  const { drawn, pieceStarts, piece_from_ns, piece_to_ns, piece_bottom_bytes } = picture;
  for (let at = 0; at < drawn.length; at++) {
    for (let piece = pieceStarts[at]!; piece < pieceStarts[at + 1]!; piece++) {
      const above_bytes = height_bytes - piece_bottom_bytes[piece]!;
      if (
        above_bytes >= 0 &&
        above_bytes < blocks.bytes[drawn[at]!]! &&
        piece_from_ns[piece]! <= time_ns &&
        time_ns < piece_to_ns[piece]!
      ) {
        return { kind: "block", block: drawn[at]! };
      }
    }
  }
  const { band_ns, band_bottom_bytes, band_bytes } = picture;
  let step = band_ns.length - 1;
  while (step > 0 && band_ns[step]! > time_ns) {
    step--;
  }
  let bottom_bytes = band_bottom_bytes[step] ?? Infinity;
  for (let allocationKind = 0; allocationKind < band_bytes.length; allocationKind++) {
    const bytes = band_bytes[allocationKind]![step]!;
    if (height_bytes >= bottom_bytes && height_bytes < bottom_bytes + bytes) {
      return { kind: "band", allocationKind, bytes };
    }
    bottom_bytes += bytes;
  }
  return { kind: "empty" };
}
