/** What was alive when the trace ended, and who held it. */
import { labelOf } from "../memory/by_op.ts";
import { type Held, heldAtEnd } from "../memory/held.ts";
import { kindLabel } from "../memory/kinds.ts";
import type { MemoryState } from "../memory/memory_state.ts";
import { ownerOf } from "../model/owner.ts";
import type { Store } from "../model/store.ts";
import { holderLabel } from "./details_allocation.ts";
import { button, element } from "./element.ts";
import { swatch } from "./memory_table.ts";
import { countOf, formatBytes } from "./quantities.ts";

const MOST_BLOCKS = 12;
const MOST_HOLDERS = 200;

export function holdersPage(store: Store, memory: MemoryState): HTMLElement {
  const { trace } = memory;
  const { holders, unheld, hasHolders } = heldAtEnd(trace, memory.blocks);
  const page = element("div", { class: "pdl-held pdl-scroll" });
  if (!hasHolders) {
    const text =
      "Who holds these blocks was not looked for: the cell magic %%paddle_mem does when its cell is over.";
    page.append(element("p", { class: "pdl-soft" }, text));
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
        `${countOf(rest.length, "more holder")}, ${formatBytes(bytes)}`,
      ),
    );
  }
  if (unheld.blocks.length) {
    page.append(holderItem(unheld));
  } else if (!holders.length) {
    page.append(element("p", {}, "Nothing was alive when the cell was over."));
  }
  return page;

  function holderItem({ kind, name, blocks, bytes }: Held): HTMLElement {
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
          element("small", {}, `and ${countOf(blocks.length - MOST_BLOCKS, "more block")}`),
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
        kind >= 0 && element("small", {}, holderLabel(kind)),
        element("b", {}, formatBytes(bytes)),
        element("small", {}, countOf(blocks.length, "block")),
      ),
      items,
    );
  }

  function unheldTitle(): string {
    return hasHolders ? "nobody that was found" : "alive at the end";
  }
}
