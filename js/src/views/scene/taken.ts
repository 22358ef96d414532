/** What boxes, lines and the words beside them take up. */
import type { Span } from "../../layout/index.ts";
import { noteOfBox } from "./drawing_style.ts";
import { edgesLeaving, isTooShort, LONGEST_LABEL_PX, labelPlace } from "./edge_label_places.ts";
import type { TextMeasure } from "./measure.ts";
import type { SceneBox, SceneEdge } from "./scene.ts";
import type { Extent } from "./spatial_index.ts";

/** What a line keeps free on either side. */
const LINE_PX = 6;
const LABEL_AWAY_PX = 6;
const NOTE_AWAY_PX = 9;

/** A part of the picture that is taken, in world px. */
export interface Taken extends Extent {
  readonly edge?: Span["edge"];
  /** Slanted lines may be made steeper; all else keeps its width. */
  readonly isStiff: boolean;
  /** Whether the other column keeps its distance from it. */
  readonly isSeen: boolean;
  readonly isWords?: boolean;
}

export function takenByBoxes(boxes: readonly SceneBox[], measure: TextMeasure): Taken[] {
  return boxes.map((box) => {
    const { x, y, width, height } = box;
    let [left, right] = [x - width / 2, x + width / 2];
    for (const chip of box.chips) {
      left = Math.min(left, x + chip.x - chip.width / 2);
      right = Math.max(right, x + chip.x + chip.width / 2);
    }
    const note = noteOfBox(box);
    if (note) {
      right = Math.max(right, x + width / 2 + NOTE_AWAY_PX + measure.width(note, "sublabel"));
    }
    const [top, bottom] = [y - height / 2, y + height / 2];
    return { left, right, top, bottom, isStiff: true, isSeen: true };
  });
}

/** Lines, and the words beside them. */
export function takenByEdges(edges: readonly SceneEdge[], measure: TextMeasure): Taken[] {
  const taken: Taken[] = [];
  const leaving = edgesLeaving(edges);
  for (const edge of edges) {
    const { pathX, pathY, label } = edge;
    for (let i = 1; i < pathX.length; i++) {
      const [x0, x1, y0, y1] = [pathX[i - 1]!, pathX[i]!, pathY[i - 1]!, pathY[i]!];
      taken.push({
        left: Math.min(x0, x1) - LINE_PX,
        right: Math.max(x0, x1) + LINE_PX,
        top: Math.min(y0, y1),
        bottom: Math.max(y0, y1),
        isStiff: x0 === x1,
        isSeen: true,
      });
    }
    if (label && pathX.length > 1 && !isTooShort(edge)) {
      const width = Math.min(LONGEST_LABEL_PX, measure.width(label, "small"));
      const { x, y } = labelPlace(edge, width, leaving.get(edge.source)!, LABEL_AWAY_PX);
      const [left, right] = [x - 2, x + width + 2];
      const height = { top: y - 8, bottom: y + 8 };
      taken.push({ left, right, ...height, isStiff: true, isSeen: true, isWords: true });
    }
  }
  return taken;
}
