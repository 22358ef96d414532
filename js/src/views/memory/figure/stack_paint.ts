/** Draws the stacked picture on a canvas, straight from its columns. */
import type { Blocks } from "../../../memory/blocks/blocks.ts";
import type { StackPicture } from "../../../memory/stack/stack_window.ts";
import { countUntil } from "../../../trace/number_order.ts";
import type { Frame, Places } from "./frame.ts";
import { faded, type MemoryPalette } from "./palette.ts";

/** Whether a block is highlighted. */
export type LitBlocks = (block: number) => boolean;

const BAND_ALPHA = 0.55;
const FADED_BAND_ALPHA = 0.16;
/** Lines are drawn only between blocks that are at least this high. */
const LEAST_LINED_PX = 4;
const OUTLINE_PX = 1.25;
export function paintStack(
  context: CanvasRenderingContext2D,
  frame: Frame,
  places: Places,
  blocks: Blocks,
  picture: StackPicture,
  lit: LitBlocks | undefined,
  palette: MemoryPalette,
): void {
  const { x, y } = places;
  const top_bytes = paintBand(context, frame, places, picture, lit, palette);
  const lined_bytes = (LEAST_LINED_PX * (frame.to_bytes - frame.from_bytes)) / frame.height_px;
  const fadedKinds = palette.kinds.map((colour) => faded(colour, palette.bg));
  const { drawn, pieceStarts, piece_from_ns, piece_to_ns, piece_bottom_bytes } = picture;
  context.lineWidth = 1;
  context.lineJoin = "miter";
  // Highlighted blocks come last, so that their lines cover their neighbours' lines.
  const order = [...drawn.keys()];
  if (lit) order.sort((a, b) => Number(lit(drawn[a]!)) - Number(lit(drawn[b]!)));
  for (const at of order) {
    const [first, end] = [pieceStarts[at]!, pieceStarts[at + 1]!];
    if (piece_from_ns[first]! > frame.to_ns || piece_to_ns[end - 1]! < frame.from_ns) {
      continue;
    }
    const block = drawn[at]!;
    const bytes = blocks.bytes[block]!;
    context.beginPath();
    for (let from = first; from < end; ) {
      let until = from + 1;
      while (until < end && piece_from_ns[until] === piece_to_ns[until - 1]) until++;
      // Go right along the top edges, then back along the bottom edges.
      for (let piece = from; piece < until; piece++) {
        const top_px = y(piece_bottom_bytes[piece]! + bytes);
        if (piece === from) context.moveTo(x(piece_from_ns[piece]!), top_px);
        else context.lineTo(x(piece_from_ns[piece]!), top_px);
        context.lineTo(x(piece_to_ns[piece]!), top_px);
      }
      for (let piece = until - 1; piece >= from; piece--) {
        const low_px = y(piece_bottom_bytes[piece]!);
        context.lineTo(x(piece_to_ns[piece]!), low_px);
        context.lineTo(x(piece_from_ns[piece]!), low_px);
      }
      context.closePath();
      from = until;
    }
    const isLit = lit?.(block);
    context.fillStyle = (isLit === false ? fadedKinds : palette.kinds)[blocks.kinds[block]!]!;
    context.fill();
    if (isLit || bytes >= lined_bytes) {
      context.strokeStyle = isLit ? palette.select : palette.bg;
      context.stroke();
    }
  }
  paintOutline(context, frame, places, picture, top_bytes, palette);
}

/** The steps of the band that are in the frame. */
function stepsIn({ band_ns }: StackPicture, frame: Frame): { first: number; end: number } {
  const first = Math.max(0, countUntil(band_ns, frame.from_ns) - 1);
  return { first, end: Math.min(band_ns.length, countUntil(band_ns, frame.to_ns) + 1) };
}

/** @returns the total height at each step */
function paintBand(
  context: CanvasRenderingContext2D,
  frame: Frame,
  { x, y }: Places,
  picture: StackPicture,
  lit: LitBlocks | undefined,
  palette: MemoryPalette,
): Float64Array {
  const { band_ns, band_bottom_bytes, band_bytes } = picture;
  const { first, end } = stepsIn(picture, frame);
  const top_bytes = band_bottom_bytes.slice();
  const below_bytes = new Float64Array(top_bytes.length);
  context.globalAlpha = lit ? FADED_BAND_ALPHA : BAND_ALPHA;
  band_bytes.forEach((bytes, kind) => {
    below_bytes.set(top_bytes);
    let isEmpty = true;
    for (let step = 0; step < bytes.length; step++) {
      top_bytes[step]! += bytes[step]!;
      if (bytes[step]! > 0) isEmpty = false;
    }
    if (isEmpty) {
      return;
    }
    context.beginPath();
    for (let step = first; step < end; step++) {
      context.lineTo(x(band_ns[step]!), y(top_bytes[step]!));
      context.lineTo(x(band_ns[step + 1] ?? frame.to_ns), y(top_bytes[step]!));
    }
    for (let step = end - 1; step >= first; step--) {
      context.lineTo(x(band_ns[step + 1] ?? frame.to_ns), y(below_bytes[step]!));
      context.lineTo(x(band_ns[step]!), y(below_bytes[step]!));
    }
    context.closePath();
    context.fillStyle = palette.kinds[kind]!;
    context.fill();
  });
  context.globalAlpha = 1;
  return top_bytes;
}

function paintOutline(
  context: CanvasRenderingContext2D,
  frame: Frame,
  { x, y }: Places,
  picture: StackPicture,
  top_bytes: Float64Array,
  palette: MemoryPalette,
): void {
  const { first, end } = stepsIn(picture, frame);
  // Fade an outline that changes at every pixel. Otherwise it would hide everything else.
  const alpha = 1.6 - (2.5 * (end - first)) / frame.width_px;
  if (alpha <= 0) {
    return;
  }
  context.globalAlpha = Math.min(1, alpha);
  context.beginPath();
  for (let step = first; step < end; step++) {
    context.lineTo(x(picture.band_ns[step]!), y(top_bytes[step]!));
    context.lineTo(x(picture.band_ns[step + 1] ?? frame.to_ns), y(top_bytes[step]!));
  }
  context.lineWidth = OUTLINE_PX;
  context.strokeStyle = palette.ink;
  context.stroke();
}
