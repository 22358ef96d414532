/** Reuses a group's layout for groups with equal content: 96 equal blocks cost one layout. */

import type { LayoutCache } from "./contract.ts";
import type { Settings } from "./layered/component.ts";
import type { Boxes } from "./layered/flow.ts";
import { type BoxLayout, layoutBoxes } from "./layered/layered.ts";

/** A full cache is emptied; the next layout adds the visible groups again. */
const MOST_ENTRIES = 2000;
/** One character per byte: two texts are equal if and only if their bytes are equal. */
const BYTES = new TextDecoder("latin1");

export function layoutCached(boxes: Boxes, settings: Settings, cache: LayoutCache): BoxLayout {
  const key = BYTES.decode(contentOf(boxes, settings));
  const known = cache.get(key) as BoxLayout | undefined;
  if (known) return known;
  const layout = layoutBoxes(boxes, settings);
  if (cache.size >= MOST_ENTRIES) cache.clear();
  cache.set(key, layout);
  return layout;
}

/** Everything the layout depends on. */
function contentOf(boxes: Boxes, settings: Settings): Float64Array {
  const head = [
    boxes.count,
    boxes.source.length,
    settings.nodeGap,
    settings.rankGap,
    settings.laneGap,
    settings.laneSpan,
  ];
  const columns = [
    boxes.left,
    boxes.right,
    boxes.height,
    boxes.pin,
    boxes.byOrder,
    boxes.source,
    boxes.target,
    boxes.weight,
    boxes.bundle,
    boxes.sourcePort,
    boxes.targetPort,
  ];
  let length = head.length;
  for (const column of columns) length += column.length;
  const content = new Float64Array(length);
  content.set(head);
  let at = head.length;
  for (const column of columns) {
    content.set(column, at);
    at += column.length;
  }
  return content;
}
