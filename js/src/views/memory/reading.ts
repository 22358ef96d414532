/** What is seen of a memory whose blocks a worker still reads; all else is made ready meanwhile. */
import { blocksByPlace } from "../../memory/blocks.ts";
import type { Ledger } from "../../memory/ledger.ts";
import type { MemoryState } from "../../memory/memory_state.ts";
import { afterPaint } from "../after_paint.ts";
import { element } from "../element.ts";
import { countOf } from "../panel/quantities.ts";

/**
 * Hides what would show a memory without blocks, and says what is awaited.
 *
 * @param root what lies under the section too, and may have the focus
 * @param section the memory's parts, of which none is shown before
 * @param ahead resolves to undefined where the worker failed: then the page reads
 * @param draw the timeline, at first without blocks
 * @returns resolves once it is painted; rejects if the blocks cannot be read
 */
export async function showOnceRead(
  root: HTMLElement,
  section: HTMLElement,
  memory: MemoryState,
  ahead: Promise<Ledger | undefined>,
  draw: () => Promise<void>,
): Promise<void> {
  const count = countOf(memory.trace.table("allocations").length, "allocation");
  const status = element("p", { class: "pdl-soft", role: "status" }, `Reading ${count} …`);
  section.append(status);
  section.dataset.state = "reading";
  const takesFocus = keepFocus(root, section);
  await afterPaint();
  const drawn = draw();
  // The table asks for them; the worker, which has more to do, leaves them to the page.
  memory.groups(memory.choice.grouping);
  memory.take((await ahead) ?? blocksByPlace(memory.trace));
  delete section.dataset.state;
  status.remove();
  takesFocus();
  await drawn;
  await afterPaint();
}

/**
 * While blocks are read there is nothing to press, but keys are still this view's.
 *
 * @returns gives the focus on, once there is what takes it
 */
function keepFocus(root: HTMLElement, section: HTMLElement): () => void {
  section.tabIndex = -1;
  if (root.contains(document.activeElement)) {
    // Not before it is on screen.
    queueMicrotask(() => section.focus({ preventScroll: true }));
  }
  return () => {
    if (document.activeElement === section) {
      section.querySelector<HTMLElement>("[role=slider]")?.focus({ preventScroll: true });
    }
    // Not sooner: what cannot have the focus loses it.
    section.removeAttribute("tabindex");
  };
}
