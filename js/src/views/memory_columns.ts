/** The stacked picture as columns of a figure's data. */
import type { Blocks } from "../memory/blocks.ts";
import type { StackPicture, Window } from "../memory/stack_window.ts";
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

/** Outlines of blocks, and whose each is: what moves out of the picture and back has several. */
export interface Outlines {
  readonly blocks: readonly number[];
  readonly xs: number[][];
  readonly ys: number[][];
}

/** To the right along the top, back along the bottom. */
export function blockOutlines(blocks: Blocks, picture: StackPicture): Outlines {
  const { drawn, pieceStarts, piece_from_ns, piece_to_ns, piece_bottom_bytes } = picture;
  const outlines = { blocks: [] as number[], xs: [] as number[][], ys: [] as number[][] };
  for (let at = 0; at < drawn.length; at++) {
    const bytes = blocks.bytes[drawn[at]!]!;
    let first = pieceStarts[at]!;
    for (let end = first + 1; end <= pieceStarts[at + 1]!; end++) {
      if (end < pieceStarts[at + 1]! && piece_from_ns[end] === piece_to_ns[end - 1]) {
        continue;
      }
      const xs = new Array<number>(4 * (end - first));
      const ys = new Array<number>(xs.length);
      for (let piece = first, to = 0, back = xs.length - 1; piece < end; piece++) {
        const bottom = piece_bottom_bytes[piece]!;
        xs[to] = xs[back] = piece_from_ns[piece]!;
        ys[to++] = bottom + bytes;
        ys[back--] = bottom;
        xs[to] = xs[back] = piece_to_ns[piece]!;
        ys[to++] = bottom + bytes;
        ys[back--] = bottom;
      }
      outlines.blocks.push(drawn[at]!);
      outlines.xs.push(xs);
      outlines.ys.push(ys);
      first = end;
    }
  }
  return outlines;
}

/** @param outlined the block of each outline */
export function blockColours(
  blocks: Blocks,
  outlined: readonly number[],
  window: Window,
  lit: LitBlocks | undefined,
  { kinds, bg, select }: MemoryPalette,
): Record<string, unknown[]> {
  const lined_bytes = (LEAST_LINED_PX * window.height_bytes) / window.height_px;
  const fadedKinds = kinds.map((colour) => faded(colour, bg));
  const columns = { colour: [] as string[], line: [] as string[], line_alpha: [] as number[] };
  for (const block of outlined) {
    const isLit = lit?.(block);
    columns.colour.push((isLit === false ? fadedKinds : kinds)[blocks.kinds[block]!]!);
    columns.line.push(isLit ? select : bg);
    columns.line_alpha.push(isLit || blocks.bytes[block]! >= lined_bytes ? 1 : 0);
  }
  return columns;
}
