/**
 * The entries of Paddle's log in blocks. A block has consecutive entries of the same op or grad
 * node.
 */

import type { Trace } from "../../trace/trace.ts";

/** The op or grad node whose entries are shown. */
export type LogOwner =
  | { readonly kind: "op"; readonly op: number }
  | { readonly kind: "grad_node"; readonly gradNode: number }
  | undefined;

export interface LogBlock {
  /** The op that wrote the entries, or -1. */
  readonly op: number;
  /** The grad node that wrote the entries, or -1. */
  readonly gradNode: number;
  /** Rows of `log`. */
  readonly entries: number[];
}

/**
 * @param owner an op with the grad nodes that it made, a grad node, or undefined for all entries
 * @param query text that an entry, its source file, its op or its grad node must contain
 */
export function logBlocks(trace: Trace, owner: LogOwner, query: string): LogBlock[] {
  const log = trace.table("log");
  const [ops, nodes, texts, files] = trace.columns("log", "op", "grad_node", "text", "source_file");
  const makers = trace.table("grad_nodes").column("op");
  const word = query.trim().toLowerCase();
  const known = new Map<number, boolean>();
  const has = (code: number) => {
    const found = known.get(code) ?? trace.text(code).toLowerCase().includes(word);
    known.set(code, found);
    return found;
  };
  const isOwners = (op: number, node: number) => {
    if (!owner) return true;
    if (owner.kind === "grad_node") return node === owner.gradNode;
    return op === owner.op || (node >= 0 && makers[node] === owner.op);
  };
  const isAsked = (entry: number, op: number, node: number) =>
    has(texts[entry]!) ||
    has(files[entry]!) ||
    (op >= 0 && has(trace.at("ops", "name", op))) ||
    (node >= 0 && has(trace.at("grad_nodes", "name", node)));
  const blocks: LogBlock[] = [];
  for (let entry = 0; entry < log.length; entry++) {
    const [op, gradNode] = [ops[entry]!, nodes[entry]!];
    if (!isOwners(op, gradNode) || (word && !isAsked(entry, op, gradNode))) continue;
    const last = blocks.at(-1);
    if (last && last.op === op && last.gradNode === gradNode) last.entries.push(entry);
    else blocks.push({ op, gradNode, entries: [entry] });
  }
  return blocks;
}
