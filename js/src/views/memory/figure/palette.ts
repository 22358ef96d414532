/** The memory timeline's colours, as theme.css and memory.css have them. */

import { hexColour, readTheme, type Theme } from "../../../dom/theme.ts";
import { MEMORY_KINDS, type MemoryKind } from "../../../memory/blocks/kinds.ts";
import { mix } from "../../scene/drawing_style.ts";

export interface MemoryPalette extends Theme {
  /** By position in MEMORY_KINDS. */
  readonly kinds: readonly string[];
}

/** The colours in force inside `app`. */
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

/** A colour, `#rrggbb`, nearly gone into the ground. */
export function faded(colour: string, ground: string): string {
  return mix(ground, colour, FADED);
}

/** As a CSS value. */
export function kindColour(kind: MemoryKind): string {
  return `var(--pdl-memory-${kind.replaceAll("_", "-")})`;
}
