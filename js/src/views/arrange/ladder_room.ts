/** The room that a column of a ladder takes, and how close the other column may come. */
import type { GapRemoval, Span } from "../../layout/index.ts";
import type { Extent } from "../scene/extent.ts";
import type { Taken } from "../scene/taken.ts";
import type { ColumnFrame } from "./ladder_frames.ts";

/** Height of the bands in which the sides of the columns are compared. */
const BAND_PX = 12;

/** The parts of a column in layout coordinates, and the map that removes wide horizontal gaps. */
export interface Placing {
  readonly taken: readonly Taken[];
  readonly gapRemoval: GapRemoval;
}

export function takenByFrames(frames: readonly ColumnFrame[], padding: number): Taken[] {
  const taken: Taken[] = [];
  for (const { left, right, top, bottom, isWide, side, title } of frames) {
    const at = { top, bottom, isStiff: true, isSeen: false };
    if (!isWide || side === "left") {
      taken.push({ ...at, left, right: left + padding, edge: "left" });
    }
    if (!isWide || side === "right") {
      taken.push({ ...at, left: right - padding, right, edge: "right" });
    }
    if (!isWide) {
      taken.push({ ...at, left, right: Math.min(right, left + title) });
      taken.push({ left, right, top, bottom, isStiff: false, isSeen: true });
    }
  }
  return taken;
}

/** The spans in which a column keeps its width. */
export function spansOf(taken: readonly Taken[]): Span[] {
  return taken
    .filter(({ isStiff }) => isStiff)
    .map(({ left, right, edge }) => ({ from: left, to: right, ...(edge ? { edge } : {}) }));
}

/**
 * The least shift of the right column at which its parts are at least `gutter` away from the parts
 * of the left column at the same height.
 */
export function ladderShift(left: Placing, right: Placing, gutter: number): number {
  const reach: number[] = [];
  const bandsOf = ({ top, bottom }: Extent): [number, number] => [
    Math.max(0, Math.floor(top / BAND_PX)),
    Math.floor(bottom / BAND_PX),
  ];
  for (const part of left.taken) {
    if (part.isSeen) {
      const x = left.gapRemoval.at(part.right);
      const [first, last] = bandsOf(part);
      for (let band = first; band <= last; band++) {
        reach[band] = Math.max(reach[band] ?? Number.NEGATIVE_INFINITY, x);
      }
    }
  }
  let shift = 0;
  for (const part of right.taken) {
    if (part.isSeen) {
      const x = right.gapRemoval.at(part.left);
      const [first, last] = bandsOf(part);
      for (let band = first; band <= last; band++) {
        shift = Math.max(shift, (reach[band] ?? Number.NEGATIVE_INFINITY) + gutter - x);
      }
    }
  }
  return shift;
}
