/** Swatches and bars next to text, in the colours of the kinds of memory. */

import { element } from "../../../dom/element.ts";
import { MEMORY_KINDS } from "../../../memory/blocks/kinds.ts";
import { kindColour } from "./palette.ts";

export function swatch(kind: number): HTMLElement {
  const colour = kindColour(MEMORY_KINDS[kind]!);
  return element("span", { class: "pdl-swatch", style: `--pdl-swatch:${colour}` });
}

/**
 * Return the inline style of a group's bar. Its width is relative to the largest group; its colours
 * show the kinds of memory in the group.
 *
 * @param bytesOfKind by position in MEMORY_KINDS
 */
export function shareBarStyle(bytesOfKind: Float64Array, largest_bytes: number): string {
  const all_bytes = bytesOfKind.reduce((sum, bytes) => sum + bytes, 0);
  const stops: string[] = [];
  let end_bytes = 0;
  bytesOfKind.forEach((bytes, kind) => {
    if (bytes > 0) {
      const begin = percent(end_bytes, all_bytes);
      end_bytes += bytes;
      stops.push(`${kindColour(MEMORY_KINDS[kind]!)} ${begin} ${percent(end_bytes, all_bytes)}`);
    }
  });
  return stops.length
    ? `width:${percent(all_bytes, largest_bytes)};background:linear-gradient(to right,${stops})`
    : "display:none";
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(2)}%`;
}
