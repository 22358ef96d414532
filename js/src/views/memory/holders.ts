/** The memory that was alive when the trace ended, and its holders. */

import { button, element } from "../../dom/element.ts";
import { type Held, heldAtEnd } from "../../memory/blocks/held.ts";
import { kindLabel } from "../../memory/blocks/kinds.ts";
import { labelOf } from "../../memory/grouping/by_op.ts";
import type { MemoryState } from "../../memory/memory_state.ts";
import { ownerOf } from "../../model/state/owner.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { formatBytes } from "../../words/quantities.ts";
import { joined } from "../../words/say.ts";
import { holderLabel } from "../details/allocation.ts";
import { swatch } from "./figure/palette.ts";

const MOST_BLOCKS = 12;
const MOST_HOLDERS = 200;

export function holdersPage(store: Store, memory: MemoryState): HTMLElement {
  const { trace } = memory;
  const atEnd = heldAtEnd(trace, memory.blocks);
  const { holders, unheld, alive_bytes, earlier_bytes, isShared, hasHolders } = atEnd;
  const page = element("div", { class: "pdl-held pdl-scroll" });
  if (!hasHolders) {
    page.append(element("p", { class: "pdl-soft" }, t("held.not_looked")));
  }
  if (alive_bytes > 0) {
    const sentences = [
      t("held.alive", { size: formatBytes(alive_bytes) }),
      isShared && t("held.shared"),
      earlier_bytes > 0 && t("held.earlier", { size: formatBytes(earlier_bytes) }),
    ];
    page.append(element("p", { class: "pdl-soft" }, joined(sentences.filter(Boolean))));
  }
  for (const held of holders.slice(0, MOST_HOLDERS)) {
    page.append(holderItem(held));
  }
  if (holders.length > MOST_HOLDERS) {
    const rest = holders.slice(MOST_HOLDERS);
    const bytes = rest.reduce((sum, held) => sum + held.bytes, 0);
    page.append(
      element(
        "p",
        { class: "pdl-soft" },
        t("held.more", { n: rest.length, size: formatBytes(bytes) }),
      ),
    );
  }
  if (unheld.blocks.length) {
    page.append(holderItem(unheld));
  } else if (!holders.length) {
    page.append(element("p", {}, t("held.nothing")));
  }
  return page;

  function holderItem({ kind, name, others, blocks, bytes }: Held): HTMLElement {
    const items = element("ul", { class: "pdl-list" });
    for (const block of blocks.slice(0, MOST_BLOCKS)) {
      const row = memory.blocks.rows[block]!;
      const owner = ownerOf(trace, row);
      items.append(
        element(
          "li",
          {},
          swatch(memory.blocks.kinds[block]!),
          button(
            `${formatBytes(memory.blocks.bytes[block]!)} ${kindLabel(memory.blocks.kinds[block]!)}`,
            () => store.select({ kind: "allocation", allocation: row }),
            { class: "pdl-link" },
          ),
          owner.kind !== "none" && element("small", {}, ` ${labelOf(trace, owner)}`),
        ),
      );
    }
    if (blocks.length > MOST_BLOCKS) {
      items.append(
        element(
          "li",
          {},
          element("small", {}, t("held.more_blocks", { n: blocks.length - MOST_BLOCKS })),
        ),
      );
    }
    const title = name ? element("code", {}, name) : element("span", {}, unheldTitle());
    return element(
      "details",
      { open: holders.length + 1 <= 6 },
      element(
        "summary",
        {},
        title,
        kind >= 0 && !!holderLabel(kind) && element("small", {}, holderLabel(kind)),
        others.length > 0 &&
          element("small", { class: "pdl-held-also", title: others.join("\n") }, alsoIn(others)),
        element("b", {}, formatBytes(bytes)),
        element("small", {}, t("count.block", { n: blocks.length })),
      ),
      items,
    );
  }

  function alsoIn(others: readonly string[]): string {
    if (others.length === 1) return t("held.also", { name: others[0]! });
    return t("held.also_more", { name: others[0]!, n: others.length - 1 });
  }

  function unheldTitle(): string {
    return t(hasHolders ? "held.nobody" : "held.at_end");
  }
}
