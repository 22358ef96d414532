/** Tells equal graphs: 96 equal blocks cost one layout. */

import type { Settings } from "./layered/component.ts";
import type { Boxes } from "./layered/flow.ts";

/** One character per byte: two texts are equal if and only if their bytes are equal. */
const BYTES = new TextDecoder("latin1");

/** A text of everything that the layout depends on. */
export function contentKey(boxes: Boxes, settings: Settings): string {
  const values = [...Object.values(settings), ...Object.values(boxes)];
  const columns = values.map((value) => (typeof value === "number" ? [value] : value));
  const content = new Float64Array(columns.reduce((sum, column) => sum + column.length, 0));
  let at = 0;
  for (const column of columns) {
    content.set(column, at);
    at += column.length;
  }
  return BYTES.decode(content);
}
