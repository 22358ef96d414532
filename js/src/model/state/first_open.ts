/** What is open before anybody has opened or closed anything: in each mode as much as its picture has room for. */
import type { Hierarchy } from "../graph/hierarchy.ts";
import { type InitialOpen, initialOpen } from "./initial_open.ts";

interface OfMode {
  readonly shut: ReadonlySet<number>;
  readonly now: InitialOpen;
}

export class FirstOpen {
  readonly #hierarchy: Hierarchy;
  readonly #all: InitialOpen;
  readonly #ofModes = new Map<string, OfMode>();

  constructor(hierarchy: Hierarchy) {
    this.#hierarchy = hierarchy;
    this.#all = initialOpen(hierarchy);
  }

  of(mode: string): InitialOpen {
    return this.#ofModes.get(mode)?.now ?? this.#all;
  }

  /** Whether a state shows what is open at first. */
  is({ mode, open, taken }: InitialOpen & { readonly mode: string }): boolean {
    const first = this.of(mode);
    return open === first.open && taken === first.taken;
  }

  /** Keep groups closed that make a mode's picture too wide. */
  shut(mode: string, groups: readonly number[]): InitialOpen {
    const shut = new Set([...(this.#ofModes.get(mode)?.shut ?? []), ...groups]);
    const now = initialOpen(this.#hierarchy, shut);
    this.#ofModes.set(mode, { shut, now });
    return now;
  }
}
