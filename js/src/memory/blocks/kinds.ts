/** The kinds of memory that the memory view distinguishes. */
import { ALLOCATION_KINDS } from "../../trace/protocol.ts";
import { t } from "../../words/page.ts";

/** `earlier`: memory that was allocated before the trace and is not in a block of the trace. */
export const MEMORY_KINDS = [...ALLOCATION_KINDS, "earlier"] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

export const EARLIER = MEMORY_KINDS.indexOf("earlier");

/** @param kind position in MEMORY_KINDS */
export function kindLabel(kind: number): string {
  return t(`memory_kind.${MEMORY_KINDS[kind]!}`);
}
