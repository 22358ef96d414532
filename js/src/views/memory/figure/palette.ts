/** The memory timeline's colours, from theme.css and memory.css. */

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
