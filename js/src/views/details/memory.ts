/** The memory that the selection allocated, as a fact on its page. */

import { button } from "../../dom/element.ts";
import { litAllocations } from "../../memory/lit.ts";
import type { Store } from "../../model/state/store.ts";
import { hasMemory } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { formatBytes } from "../../words/quantities.ts";
import { switchMode } from "../actions/jump.ts";
import { type Fact, small } from "../facts/facts.ts";

/** "1.2 MiB · 3 blocks"; a click leads to the timeline. */
export function memoryFact(store: Store): Fact | false {
  const { trace } = store;
  const lit = hasMemory(trace) ? litAllocations(store) : undefined;
  if (!lit) {
    return false;
  }
  const bytesOf = trace.table("allocations").column("bytes");
  let bytes = 0;
  let count = 0;
  for (let row = 0; row < lit.length; row++) {
    if (lit[row]) {
      bytes += bytesOf[row]!;
      count++;
    }
  }
  if (count === 0) {
    return false;
  }
  const blocks = button(t("count.block", { n: count }), () => switchMode(store, "memory"), {
    class: "pdl-link",
    title: t("memory.show_them"),
  });
  return [t("memory.allocated"), formatBytes(bytes), small(" · "), blocks];
}
