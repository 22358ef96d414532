/** The frame of the timeline: its place on the canvas, and the times and bytes that it shows. */

/** Room around the frame in px, for the labels of its axes. */
export const MARGINS = { left: 66, right: 18, top: 6, bottom: 24 } as const;

export interface Shown {
  readonly from_ns: number;
  readonly to_ns: number;
  readonly from_bytes: number;
  readonly to_bytes: number;
}

export interface Frame extends Shown {
  readonly left_px: number;
  readonly top_px: number;
  readonly width_px: number;
  readonly height_px: number;
}

/** Points outside the frame are drawn at most this far away: canvases do not take all numbers. */
const BEYOND_PX = 4000;

/** Positions of times and bytes on the canvas. */
export interface Places {
  x(time_ns: number): number;
  y(bytes: number): number;
}

export function placesIn(frame: Frame): Places {
  const px_ns = frame.width_px / (frame.to_ns - frame.from_ns);
  const px_bytes = frame.height_px / (frame.to_bytes - frame.from_bytes);
  const bottom_px = frame.top_px + frame.height_px;
  const near = (place_px: number): number =>
    Math.max(-BEYOND_PX, Math.min(2 * BEYOND_PX, place_px));
  return {
    x: (time_ns) => near(frame.left_px + (time_ns - frame.from_ns) * px_ns),
    y: (bytes) => near(bottom_px - (bytes - frame.from_bytes) * px_bytes),
  };
}
