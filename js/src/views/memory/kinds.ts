/** The legend of the kinds of memory, with bytes at the chosen moment; a press highlights one. */

import { button, element } from "../../dom/element.ts";
import { kindLabel, MEMORY_KINDS } from "../../memory/blocks/kinds.ts";
import type { MemoryState } from "../../memory/memory_state.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { formatBytes } from "../../words/quantities.ts";
import { swatch } from "./figure/palette.ts";

/** @returns a function that disposes of the legend */
export function mountKinds(root: HTMLElement, store: Store, memory: MemoryState): () => void {
  let frame = 0;
  const render = (): void => {
    frame = 0;
    const { blocks, choice, moment } = memory;
    const bytes = new Float64Array(MEMORY_KINDS.length);
    for (const block of moment.alive) {
      bytes[blocks.kinds[block]!]! += blocks.bytes[block]!;
    }
    for (const item of root.children) {
      const kind = Number((item as HTMLElement).dataset.kind);
      item.setAttribute("aria-pressed", String(kind === choice.kind));
      const size = item.querySelector("small")!;
      const text = formatBytes(bytes[kind]!);
      if (size.textContent !== text) size.textContent = text;
    }
  };
  const build = (): void => {
    const kinds = memory.blocks.kindsMet;
    root.replaceChildren(
      ...kinds.map((kind) => {
        const item = button(
          "",
          () => {
            store.select({ kind: "none" });
            memory.update({ kind: memory.choice.kind === kind ? -1 : kind });
          },
          {
            class: "pdl-kind",
            "data-kind": String(kind),
            title: t(`memory_kind.${MEMORY_KINDS[kind]!}_title`),
          },
        );
        item.append(swatch(kind), kindLabel(kind), " ", element("small"));
        return item;
      }),
    );
    render();
  };
  const unsubscribe = memory.subscribe((choice, previous) => {
    if (choice.place !== previous.place) {
      build();
    } else {
      frame ||= requestAnimationFrame(render);
    }
  });
  build();
  return () => {
    cancelAnimationFrame(frame);
    unsubscribe();
  };
}
