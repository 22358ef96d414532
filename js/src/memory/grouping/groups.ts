/** What every way to group blocks of memory gives. */
import type { Selection } from "../../model/state/view_state.ts";
import { t } from "../../words/page.ts";

/** A way to group all blocks of a trace. */
export interface Groups {
  /** Group by row of `allocations`. */
  readonly groupOf: Int32Array;
  readonly count: number;
  label(group: number): string;
  /** What else tells it from others, "" where nothing does. */
  note(group: number): string;
  /** What it is in the graph. */
  selection(group: number): Selection;
}

/** The group of what was there before the trace and never met by it. */
export const UNMET = -1;
export function unmetLabel(): string {
  return t("memory.unmet");
}
