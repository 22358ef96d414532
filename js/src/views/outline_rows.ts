/** The rows of the outline: the visible tree as text, in the order of flow. */
import { isLeaf } from "../model/leaves.ts";
import type { Store } from "../model/store.ts";
import type { ItemKind, VisibleItem, VisibleTree } from "../model/visible.ts";
import { markLines, marksOfBox, SEVERITY_WORDS } from "./box_marks.ts";
import { countOf } from "./quantities.ts";

export interface OutlineRow {
  readonly id: string;
  /** From 1. */
  readonly level: number;
  readonly label: string;
  readonly sublabel: string;
  /** All there is to say, for those who do not see the picture. */
  readonly name: string;
  /** Signs of the findings that point at it: "✕"; "" for none. */
  readonly sign: string;
  readonly expanded: boolean | undefined;
  readonly op: number;
  readonly gradNode: number;
  readonly group: number;
  readonly tensor: number;
  /** First group of the folded run that the row stands for, -1 for none. */
  readonly fold: number;
  readonly position: number;
  readonly siblings: number;
}

/**
 * @param pairs whether each op is followed by its grad nodes, as in a ladder
 * @param isMember 1 for the grad nodes of the backward call in view
 */
export function outlineRows(
  store: Store,
  tree: VisibleTree,
  pairs: boolean,
  isMember: Uint8Array,
): OutlineRow[] {
  const writer = new RowWriter(store);
  const level = new Int32Array(tree.items.length);
  const siblings = new Int32Array(tree.items.length + 1);
  const position = tree.items.map((item, index) => {
    level[index] = item.parent >= 0 ? level[item.parent]! + 1 : 1;
    return ++siblings[item.parent + 1]!;
  });
  // Parameters are listed last but belong into their groups; rows are walked depth first.
  const rows: OutlineRow[] = [];
  for (const index of depthFirst(tree)) {
    const item = tree.items[index]!;
    const place = {
      level: level[index]!,
      position: position[index]!,
      siblings: siblings[item.parent + 1]!,
    };
    const nodes =
      pairs && item.kind === "op"
        ? Array.from(store.trace.gradNodesOfOp(item.key)).filter((node) => isMember[node])
        : [];
    rows.push({
      ...writer.marked(writer.row(item), item.kind),
      ...place,
      ...(nodes.length ? { expanded: true } : {}),
    });
    nodes.forEach((node, at) => {
      rows.push({
        ...writer.marked(writer.gradNode(node, "", `grad_node:${node}`), "grad_node"),
        level: place.level + 1,
        position: at + 1,
        siblings: nodes.length,
      });
    });
  }
  return rows;
}

type RowContent = Omit<OutlineRow, "level" | "position" | "siblings">;

const NOTHING = {
  sign: "",
  sublabel: "",
  expanded: undefined,
  op: -1,
  gradNode: -1,
  group: -1,
  tensor: -1,
  fold: -1,
} as const;

class RowWriter {
  constructor(readonly store: Store) {}

  /** The row with what findings say of it. */
  marked(row: RowContent, kind: ItemKind): RowContent {
    const box = { ...row, kind: kind === "fold" ? kind : ("op" as const) };
    // A group's row stands for both halves; what is in an open one has rows of its own.
    const isGroup = kind === "group" || kind === "fold";
    const marks = isGroup
      ? row.expanded
        ? []
        : marksOfBox(this.store, box, undefined, true)
      : marksOfBox(this.store, box);
    const [first] = marks;
    return first
      ? {
          ...row,
          sign: SEVERITY_WORDS[first.finding.severity][1],
          name: [row.name, ...markLines(marks)].join(", "),
        }
      : row;
  }

  row(item: VisibleItem): RowContent {
    switch (item.kind) {
      case "op":
        return this.#op(item);
      case "grad_node":
        return this.gradNode(item.key, item.through, item.id);
      case "tensor":
        return this.#tensor(item);
      default:
        return this.#group(item);
    }
  }

  gradNode(gradNode: number, through: string, id: string): RowContent {
    const { trace } = this.store;
    const parameter = trace.at("grad_nodes", "parameter", gradNode);
    const leaf = isLeaf(trace, gradNode) && parameter >= 0 ? trace.tensorLabel(parameter) : "";
    const label = leaf || trace.gradNodeLabel(gradNode);
    const name = [`grad node ${label}`, through && `layer ${through}`].filter(Boolean).join(", ");
    return { ...NOTHING, id, label, sublabel: through, name, gradNode };
  }

  #op(item: VisibleItem): RowContent {
    const { trace } = this.store;
    const op = item.key;
    const label = trace.opLabel(op);
    const layer = trace.layerOf(op);
    const shapes = Array.from(trace.outputsOf(op))
      .map((use) => trace.at("uses", "tensor", use))
      .filter((tensor) => tensor >= 0)
      .map((tensor) => trace.textAt("tensors", "shape", tensor));
    const parts = [
      `${label}, op ${op}`,
      layer && `layer ${layer}`,
      shapes.length ? `gives ${shapes.slice(0, 4).join(" and ")}` : "",
      trace.at("ops", "raised", op) ? "raised an error" : "",
    ];
    const sublabel = item.through || shapes[0] || "";
    return { ...NOTHING, id: item.id, label, sublabel, name: parts.filter(Boolean).join(", "), op };
  }

  #tensor(item: VisibleItem): RowContent {
    const { trace } = this.store;
    const label = trace.tensorLabel(item.key) || trace.tensorKind(item.key);
    const sublabel = trace.textAt("tensors", "shape", item.key);
    const name = `${trace.tensorKind(item.key)} ${label} ${sublabel}`;
    return { ...NOTHING, id: item.id, label, sublabel, name, tensor: item.key };
  }

  #group(item: VisibleItem): RowContent {
    const { trace, hierarchy, state } = this.store;
    const isFold = item.kind === "fold";
    const members = isFold ? hierarchy.runMembers(item.key).length : 1;
    const label = isFold
      ? `${hierarchy.labelOfRun(item.key)} ×${members}`
      : trace.groupLabel(item.key);
    const className = trace.textAt("groups", "class", item.key);
    const noun = state.mode === "backward" ? "grad node" : "op";
    const count = countOf(item.leafCount, noun);
    const kind = isFold
      ? `${members} repeated groups`
      : trace.groupKind(item.key).replace("_", " ");
    return {
      ...NOTHING,
      id: item.id,
      label,
      sublabel: className || count,
      name: [`${kind} ${label}`, className, count].filter(Boolean).join(", "),
      expanded: item.isOpen,
      group: item.key,
      fold: isFold ? item.key : -1,
    };
  }
}

function depthFirst(tree: VisibleTree): number[] {
  const children = new Map<number, number[]>();
  tree.items.forEach((item, index) => {
    const list = children.get(item.parent) ?? [];
    list.push(index);
    children.set(item.parent, list);
  });
  const order: number[] = [];
  const waiting = (children.get(-1) ?? []).slice().reverse();
  while (waiting.length) {
    const index = waiting.pop()!;
    order.push(index);
    for (const child of (children.get(index) ?? []).slice().reverse()) {
      waiting.push(child);
    }
  }
  return order;
}
