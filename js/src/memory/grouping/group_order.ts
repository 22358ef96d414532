/** Sorts only the rows of the table that are shown. */
import { compare, nameKey, type Sorting } from "../../model/table/sorting.ts";
import type { GroupSums } from "./group_sums.ts";
import { type Groups, UNMET, unmetLabel } from "./groups.ts";

export type SortColumn = "name" | "bytes" | "counts" | "allocated_bytes";

/** Sorts the groups. Returns the positions of the first `most` groups in `sums`. */
export function firstGroups(
  groups: Groups,
  sums: GroupSums,
  { by, isDown }: Sorting<SortColumn>,
  most: number,
): number[] {
  const sign = isDown ? -1 : 1;
  const all = [...sums.groups.keys()];
  if (by === "name") {
    const names = all.map((at) => nameKey(labelOf(groups, sums.groups[at]!)));
    return all.sort((a, b) => sign * compare(names[a]!, names[b]!) || a - b).slice(0, most);
  }
  const column = sums[by];
  const found = all.length > most ? all.filter(amongFirst(column, isDown, most)) : all;
  return found
    .sort((a, b) => sign * (column[a]! - column[b]!) || sums.bytes[b]! - sums.bytes[a]! || a - b)
    .slice(0, most);
}

export function labelOf(groups: Groups, group: number): string {
  return group === UNMET ? unmetLabel() : groups.label(group);
}

/** Returns a function that tells whether a row may be among the first `most` rows. */
function amongFirst(column: Float64Array, isDown: boolean, most: number): (at: number) => boolean {
  const values = column.slice().sort();
  const limit = isDown ? values[values.length - most]! : values[most - 1]!;
  return isDown ? (at) => column[at]! >= limit : (at) => column[at]! <= limit;
}
