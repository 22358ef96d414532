/** Blocks that were still alive at the end of the trace, by their holders. */
import type { Trace } from "../../trace/trace.ts";
import type { Blocks } from "./blocks.ts";
import { aliveAt } from "./moment.ts";

export interface Held {
  /** Position in HOLDER_KINDS, -1 for blocks without a holder. */
  readonly kind: number;
  readonly name: string;
  /** Names of other holders of the same blocks. */
  readonly others: readonly string[];
  /** The largest block comes first. */
  readonly blocks: readonly number[];
  readonly bytes: number;
}

export interface HeldAtEnd {
  /** The largest holder comes first. A shared block is in several holders. */
  readonly holders: readonly Held[];
  readonly alive_bytes: number;
  /** Memory from before the trace that was not used in it. It is not in `alive_bytes`. */
  readonly earlier_bytes: number;
  /**
   * Whether a block has several holders. Then the sum over all holders is larger than
   * `alive_bytes`.
   */
  readonly isShared: boolean;
  readonly unheld: Held;
  /** Whether holders were searched for. */
  readonly hasHolders: boolean;
}

export function heldAtEnd(trace: Trace, blocks: Blocks): HeldAtEnd {
  const atEnd = aliveAt(blocks, Number.MAX_VALUE);
  const alive = atEnd.filter((block) => blocks.rows[block]! >= 0);
  const blockOf = new Map(Array.from(alive, (block) => [blocks.rows[block]!, block]));
  const table = trace.table("holders");
  const groups = new Map<string, { kind: number; name: string; blocks: Set<number> }>();
  const held = new Set<number>();
  for (let row = 0; row < table.length; row++) {
    const block = blockOf.get(trace.at("holders", "allocation", row));
    if (block === undefined) {
      continue;
    }
    const kind = trace.at("holders", "kind", row);
    const name = trace.textAt("holders", "name", row);
    const key = `${kind} ${name}`;
    const group = groups.get(key) ?? { kind, name, blocks: new Set() };
    groups.set(key, group);
    group.blocks.add(block);
    held.add(block);
  }
  const sum = (kind: number, names: readonly string[], among: Iterable<number>): Held => {
    const sorted = [...among].sort((a, b) => blocks.bytes[b]! - blocks.bytes[a]!);
    const bytes = sorted.reduce((total, block) => total + blocks.bytes[block]!, 0);
    return { kind, name: names[0] ?? "", others: names.slice(1), blocks: sorted, bytes };
  };
  // A layer and an optimizer both hold a parameter. A single row names both.
  const alike = new Map<string, { kind: number; names: string[]; blocks: Set<number> }>();
  for (const { kind, name, blocks: own } of groups.values()) {
    const key = [...own].sort((a, b) => a - b).join(" ");
    const known = alike.get(key);
    if (known) {
      known.names.push(name);
    } else {
      alike.set(key, { kind, names: [name], blocks: own });
    }
  }
  const all = sum(-1, [], alive);
  const holders = [...alike.values()]
    .map((group) => sum(group.kind, group.names, group.blocks))
    .sort((a, b) => b.bytes - a.bytes);
  return {
    holders,
    alive_bytes: all.bytes,
    earlier_bytes: sum(-1, [], atEnd).bytes - all.bytes,
    isShared: holders.reduce((count, holder) => count + holder.blocks.length, 0) > held.size,
    unheld: sum(
      -1,
      [],
      alive.filter((block) => !held.has(block)),
    ),
    hasHolders: table.length > 0,
  };
}
