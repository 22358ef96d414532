/** Decides whether a picture of the stack fits the screen, and which window a new one covers. */
import type { Blocks } from "../../../memory/blocks/blocks.ts";
import type { Window } from "../../../memory/stack/stack_window.ts";
import type { Frame } from "../figure/frame.ts";

/**
 * The share of the screen by which a picture extends beyond each side. The picture can be moved by
 * so much without a new one.
 */
const BEYOND = 0.5;
/** A picture is reused at another scale until the scales differ by this factor. */
const COARSER = 1.3;

/** The part shown in the frame, and its size in pixels. */
export type OnScreen = Omit<Frame, "left_px" | "top_px">;

export function serves(
  { from_ns, to_ns, width_px, height_px, height_bytes, shown }: Window,
  on: OnScreen,
  { first_ns, last_ns }: Blocks,
): boolean {
  const scale = (to_ns - from_ns) / width_px / pixel_ns(on);
  return (
    height_px === on.height_px &&
    height_bytes === on.to_bytes - on.from_bytes &&
    from_ns <= Math.max(first_ns, on.from_ns) &&
    to_ns >= Math.min(last_ns, on.to_ns) &&
    scale < COARSER &&
    scale > 1 / COARSER &&
    (!shown || (shown.from_bytes <= on.from_bytes && shown.to_bytes >= on.to_bytes))
  );
}

/** @param whole_bytes bytes over the whole height without zoom */
export function windowFor(
  on: OnScreen,
  { first_ns, last_ns }: Blocks,
  whole_bytes: number,
): Window {
  const height_bytes = on.to_bytes - on.from_bytes;
  const beyond_ns = BEYOND * (on.to_ns - on.from_ns);
  const beyond_bytes = BEYOND * height_bytes;
  const from_ns = Math.max(first_ns, on.from_ns - beyond_ns);
  const to_ns = Math.min(last_ns, on.to_ns + beyond_ns);
  return {
    from_ns,
    to_ns,
    width_px: Math.max(1, Math.round((to_ns - from_ns) / pixel_ns(on))),
    height_px: on.height_px,
    height_bytes,
    whole_bytes,
    ...(height_bytes < 0.99 * whole_bytes && {
      shown: { from_bytes: on.from_bytes - beyond_bytes, to_bytes: on.to_bytes + beyond_bytes },
    }),
  };
}

/** Time per pixel. */
function pixel_ns({ from_ns, to_ns, width_px }: OnScreen): number {
  return (to_ns - from_ns) / width_px;
}
