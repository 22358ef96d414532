/** The stacked picture as columns of a figure's data. */
import type { Blocks } from "../memory/blocks.ts";
import type { StackPicture } from "../memory/stacking.ts";
import { faded, type MemoryPalette } from "./memory_palette.ts";

/** What of the picture is meant: by block. */
export type LitBlocks = (block: number) => boolean;

/** Lower blocks have no room for a line between them. */
const LEAST_LINED_PX = 4;

/**
 * Each value twice: from these, all times but the first and all heights but the last are the corners
 * of steps. (Bokeh 3.9's VAreaStep makes them itself, and never ends where there are none.)
 */
export function corners(values: readonly number[]): number[] {
  return values.flatMap((value) => [value, value]);
}

/** Each block as one outline: to the right along its top, back along its bottom. */
export function blockOutlines(blocks: Blocks, picture: StackPicture): Record<string, unknown[]> {
  const { drawn, pieceStarts, piece_from_ns, piece_to_ns, piece_bottom_bytes } = picture;
  const columns = { xs: [] as number[][], ys: [] as number[][] };
  for (let at = 0; at < drawn.length; at++) {
    const bytes = blocks.bytes[drawn[at]!]!;
    const xs: number[] = [];
    const ys: number[] = [];
    for (let piece = pieceStarts[at]!; piece < pieceStarts[at + 1]!; piece++) {
      const top = piece_bottom_bytes[piece]! + bytes;
      xs.push(piece_from_ns[piece]!, piece_to_ns[piece]!);
      ys.push(top, top);
    }
    for (let piece = pieceStarts[at + 1]! - 1; piece >= pieceStarts[at]!; piece--) {
      xs.push(piece_to_ns[piece]!, piece_from_ns[piece]!);
      ys.push(piece_bottom_bytes[piece]!, piece_bottom_bytes[piece]!);
    }
    columns.xs.push(xs);
    columns.ys.push(ys);
  }
  return columns;
}

export function blockColours(
  blocks: Blocks,
  { drawn, window }: StackPicture,
  lit: LitBlocks | undefined,
  { kinds, bg, select }: MemoryPalette,
): Record<string, unknown[]> {
  const lined_bytes = (LEAST_LINED_PX * window.height_bytes) / window.height_px;
  const fadedKinds = kinds.map((colour) => faded(colour, bg));
  const columns = { colour: [] as string[], line: [] as string[], line_alpha: [] as number[] };
  for (const block of drawn) {
    const isLit = lit?.(block);
    columns.colour.push((isLit === false ? fadedKinds : kinds)[blocks.kinds[block]!]!);
    columns.line.push(isLit ? select : bg);
    columns.line_alpha.push(isLit || blocks.bytes[block]! >= lined_bytes ? 1 : 0);
  }
  return columns;
}
