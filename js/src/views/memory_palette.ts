/** The memory timeline's colours, as theme.css and memory.css have them. */
import { ALLOCATION_KINDS } from "../protocol.ts";
import { hexColour, readTheme, type Theme } from "./theme.ts";

export interface MemoryPalette extends Theme {
  /** By position in ALLOCATION_KINDS. */
  readonly kinds: readonly string[];
}

/** The colours in force inside `app`. */
export function readMemoryPalette(app: HTMLElement): MemoryPalette {
  const probe = document.createElement("span");
  probe.hidden = true;
  app.append(probe);
  const kinds = ALLOCATION_KINDS.map((kind) => {
    probe.style.color = kindColour(kind);
    return hexColour(getComputedStyle(probe).color);
  });
  probe.remove();
  return { ...readTheme(app), kinds };
}

/** As a CSS value. */
export function kindColour(kind: (typeof ALLOCATION_KINDS)[number]): string {
  return `var(--pdl-memory-${kind.replaceAll("_", "-")})`;
}
