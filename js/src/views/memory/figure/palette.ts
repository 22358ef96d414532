/** The memory timeline's colours, from theme.css and memory.css. */

import { element } from "../../../dom/element.ts";
import { hexColour, readTheme, type Theme } from "../../../dom/theme.ts";
import { MEMORY_KINDS, type MemoryKind } from "../../../memory/blocks/kinds.ts";
import { mix } from "../../scene/drawing_style.ts";

export interface MemoryPalette extends Theme {
  /** By position in MEMORY_KINDS. */
  readonly kinds: readonly string[];
}

/** Read the current colours inside `app`. */
export function readMemoryPalette(app: HTMLElement): MemoryPalette {
  const probe = document.createElement("span");
  probe.hidden = true;
  app.append(probe);
  const kinds = MEMORY_KINDS.map((kind) => {
    probe.style.color = kindColour(kind);
    return hexColour(getComputedStyle(probe).color);
  });
  probe.remove();
  return { ...readTheme(app), kinds };
}

const FADED = 0.24;

/** Mix a colour, `#rrggbb`, almost completely into the background. */
export function faded(colour: string, ground: string): string {
  return mix(ground, colour, FADED);
}

/** The kind's colour as a CSS value. */
export function kindColour(kind: MemoryKind): string {
  return `var(--pdl-memory-${kind.replaceAll("_", "-")})`;
}

/** Swatches and bars next to text, in the colours of the kinds of memory. */
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
