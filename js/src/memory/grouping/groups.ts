/** The result that all ways of grouping memory blocks share. */
import type { Selection } from "../../model/state/view_state.ts";
import { t } from "../../words/page.ts";

/** A way to group all blocks of a trace. */
export interface Groups {
  /** The group of each row of `allocations`. */
  readonly groupOf: Int32Array;
  readonly count: number;
  label(group: number): string;
  /** More text to distinguish the group from other groups, or "". */
  note(group: number): string;
  /** The group's selection in the graph. */
  selection(group: number): Selection;
}

/** The group of memory from before the trace that was not used in it. */
export const UNMET = -1;
export function unmetLabel(): string {
  return t("memory.unmet");
}
