/** What was alive when the trace ended, and who held it. */
import { labelOf } from "../../memory/by_op.ts";
import { type Held, heldAtEnd } from "../../memory/held.ts";
import { kindLabel } from "../../memory/kinds.ts";
import type { MemoryState } from "../../memory/memory_state.ts";
import { ownerOf } from "../../model/owner.ts";
import type { Store } from "../../model/store.ts";
import { holderLabel } from "../details/allocation.ts";
import { button, element } from "../element.ts";
import { countOf, formatBytes } from "../panel/quantities.ts";
import { swatch } from "./swatch.ts";

const MOST_BLOCKS = 12;
const MOST_HOLDERS = 200;

export function holdersPage(store: Store, memory: MemoryState): HTMLElement {
  const { trace } = memory;
  const atEnd = heldAtEnd(trace, memory.blocks);
  const { holders, unheld, alive_bytes, earlier_bytes, isShared, hasHolders } = atEnd;
  const page = element("div", { class: "pdl-held pdl-scroll" });
  if (!hasHolders) {
    const text =
      "Who holds these blocks was not looked for: the cell magic %%paddle_mem does when its cell is over.";
    page.append(element("p", { class: "pdl-soft" }, text));
  }
  if (alive_bytes > 0) {
    const sentences = [
      `${formatBytes(alive_bytes)} alive at the end, by who holds it.`,
      isShared && "A block that several hold is listed with each of them.",
      earlier_bytes > 0 &&
        `Not listed: ${formatBytes(earlier_bytes)} from before the trace that it never used.`,
    ];
    page.append(element("p", { class: "pdl-soft" }, sentences.filter(Boolean).join(" ")));
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
        kind >= 0 && !!holderLabel(kind) && element("small", {}, holderLabel(kind)),
        others.length > 0 &&
          element("small", { class: "pdl-held-also", title: others.join("\n") }, alsoIn(others)),
        element("b", {}, formatBytes(bytes)),
        element("small", {}, countOf(blocks.length, "block")),
      ),
      items,
    );
  }

  function alsoIn(others: readonly string[]): string {
    const more = others.length > 1 ? ` and ${others.length - 1} more` : "";
    return `also ${others[0]}${more}`;
  }

  function unheldTitle(): string {
    return hasHolders ? "nobody that was found" : "alive at the end";
  }
}
