/** Reuses the layout of a group for another of equal content: 96 equal blocks cost one layout. */

import type { LayoutCache } from "./contract.ts";
import type { Settings } from "./layered/component.ts";
import type { Boxes } from "./layered/flow.ts";
import { type BoxLayout, layoutBoxes } from "./layered/layered.ts";

interface Entry {
  content: Float64Array;
  layout: BoxLayout;
}

/** A full cache starts anew: what is on screen comes back with the next layout. */
const MOST_ENTRIES = 2000;

export function layoutCached(boxes: Boxes, settings: Settings, cache: LayoutCache): BoxLayout {
  const content = contentOf(boxes, settings);
  const key = hash(content);
  const known = cache.get(key) as Entry | undefined;
  if (known !== undefined && equal(known.content, content)) return known.layout;
  const layout = layoutBoxes(boxes, settings);
  if (cache.size >= MOST_ENTRIES) cache.clear();
  cache.set(key, { content, layout } satisfies Entry);
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

function hash(content: Float64Array): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (const word of new Uint32Array(content.buffer)) {
    a = Math.imul(a ^ word, 0x01000193);
    b = Math.imul(b ^ word ^ (b >>> 15), 0x85ebca6b);
  }
  return `${content.length}:${a >>> 0}:${b >>> 0}`;
}

function equal(a: Float64Array, b: Float64Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
  return true;
}
