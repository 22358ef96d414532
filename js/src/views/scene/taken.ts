/** The room that boxes, lines and texts take. */
import type { Span } from "../../layout/index.ts";
import { noteRoom } from "./drawing_style.ts";
import { edgesLeaving, isTooShort, LONGEST_LABEL_PX, labelPlace } from "./edge_label_places.ts";
import { type Extent, extentOf, extentWithChips } from "./extent.ts";
import type { TextMeasure } from "./measure.ts";
import type { Scene, SceneBox, SceneEdge } from "./scene.ts";
import { TITLE_HEIGHT_PX } from "./scene_index.ts";

/** Free space that a line keeps on each side. */
const LINE_PX = 6;
export const LABEL_AWAY_PX = 6;
const LINE_HEIGHT_PX = 16;

/** An occupied part of the picture, in world px. */
export interface Taken extends Extent {
  readonly edge?: Span["edge"];
  /** Whether the part keeps its width. Slanted lines may be made steeper instead. */
  readonly isStiff: boolean;
  /** Whether the other column keeps a distance from this part. */
  readonly isSeen: boolean;
  readonly isWords?: boolean;
}

export function takenByBoxes(boxes: readonly SceneBox[], measure: TextMeasure): Taken[] {
  return boxes.map((box) => {
    const extent = extentWithChips(box);
    const right = Math.max(extent.right, box.x + box.width / 2 + noteRoom(box, measure));
    return { ...extent, right, isStiff: true, isSeen: true };
  });
}

/** The parts taken by lines, and by the words beside lines. */
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

/**
 * The parts that the view should not cut: boxes, titles and texts.
 *
 * @param bottom parts below this height are left out
 */
export function wholeParts(scene: Scene, measure: TextMeasure, bottom: number): Extent[] {
  const isAbove = ({ y, height }: { y: number; height: number }): boolean =>
    y - height / 2 < bottom;
  const labelled = scene.edges.filter(
    (edge) => edge.label && !isTooShort(edge) && edge.pathY[0]! < bottom,
  );
  // A title moves along its strip to stay in view.
  const titles = scene.frames.filter(isAbove).map((frame) => {
    const extent = extentOf(frame);
    return { ...extent, bottom: extent.top + TITLE_HEIGHT_PX };
  });
  return [
    ...takenByBoxes(scene.boxes.filter(isAbove), measure),
    ...takenByEdges(labelled, measure).filter(({ isWords }) => isWords),
    ...titles,
    ...labelExtents(scene, measure),
  ];
}

/** Extents of the words that belong to no box. */
export function labelExtents({ labels }: Scene, measure: TextMeasure): Extent[] {
  return labels.map(({ x, y, text, align }) => {
    const width = measure.width(text, "sublabel");
    const left = align === "middle" ? x - width / 2 : align === "end" ? x - width : x;
    const [top, bottom] = [y - LINE_HEIGHT_PX / 2, y + LINE_HEIGHT_PX / 2];
    return { left, right: left + width, top, bottom };
  });
}
