/** What of a scene is of no use when half of it is seen: boxes, and words beside them. */
import { isTooShort } from "./edge_label_places.ts";
import type { TextMeasure } from "./measure.ts";
import type { Scene } from "./scene.ts";
import { TITLE_HEIGHT_PX } from "./scene_index.ts";
import type { Extent } from "./spatial_index.ts";
import { takenByBoxes, takenByEdges } from "./taken.ts";

const LINE_HEIGHT_PX = 16;

/** @param bottom what lies below is left out */
export function wholeParts(scene: Scene, measure: TextMeasure, bottom: number): Extent[] {
  const boxes = scene.boxes.filter(({ y, height }) => y - height / 2 < bottom);
  const edges = scene.edges.filter(
    (edge) => edge.label && !isTooShort(edge) && edge.pathY[0]! < bottom,
  );
  const frames = scene.frames.filter(({ y, height }) => y - height / 2 < bottom);
  return [
    ...takenByBoxes(boxes, measure),
    ...takenByEdges(edges, measure).filter(({ isWords }) => isWords),
    ...frames.map((frame) => {
      // A title moves along its strip to stay in sight.
      const [left, top] = [frame.x - frame.width / 2, frame.y - frame.height / 2];
      return { left, top, right: left + frame.width, bottom: top + TITLE_HEIGHT_PX };
    }),
    ...labelExtents(scene, measure),
  ];
}

/** Where the words lie that belong to no box. */
export function labelExtents({ labels }: Scene, measure: TextMeasure): Extent[] {
  return labels.map(({ x, y, text, align }) => {
    const width = measure.width(text, "sublabel");
    const left = align === "middle" ? x - width / 2 : align === "end" ? x - width : x;
    const [top, bottom] = [y - LINE_HEIGHT_PX / 2, y + LINE_HEIGHT_PX / 2];
    return { left, right: left + width, top, bottom };
  });
}
