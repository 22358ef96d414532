/** The rows of the outline: the visible tree as text, in the order of flow. */

import { isLeaf } from "../../model/gradients/grad_leaves.ts";
import { foldAround } from "../../model/state/folding.ts";
import type { Store } from "../../model/state/store.ts";
import type { Selection } from "../../model/state/view_state.ts";
import type { ItemKind, VisibleItem, VisibleTree } from "../../model/visible/visible_tree.ts";
import { t } from "../../words/page.ts";
import { foldLabel, leafCountText } from "../names/group_label.ts";
import { shapesOf } from "../names/tensors.ts";
import { markLines, marksOfBox, SEVERITY_SIGNS } from "../scene/box_marks.ts";

export interface OutlineRow {
  readonly id: string;
  /** The depth of the row, from 1. */
  readonly level: number;
  readonly label: string;
  readonly sublabel: string;
  /** The full description, for screen readers. */
  readonly name: string;
  /** Signs of the findings about the row: "✕"; "" for none. */
  readonly sign: string;
  readonly expanded: boolean | undefined;
  readonly op: number;
  readonly gradNode: number;
  readonly group: number;
  readonly tensor: number;
  /** First group of the folded run that the row represents, -1 for none. */
  readonly fold: number;
  readonly position: number;
  readonly siblings: number;
}

/** All rows of a tree. A row is written only on request, because few of thousands are visible. */
export class OutlineRows {
  readonly length: number;
  readonly #writer: RowWriter;
  /** Items in the order of their rows, and the row of each item. */
  readonly #order: Int32Array;
  readonly #rowOfItem: Int32Array;
  readonly #level: Int32Array;
  readonly #position: Int32Array;
  readonly #siblings: Int32Array;

  /** @param isPaired 1 for grad nodes that are rows below their op, as in a ladder */
  constructor(
    readonly store: Store,
    readonly tree: VisibleTree,
    readonly isPaired?: Uint8Array,
  ) {
    this.#writer = new RowWriter(store);
    const count = tree.items.length;
    this.#level = new Int32Array(count);
    this.#position = new Int32Array(count);
    this.#siblings = new Int32Array(count + 1);
    for (let item = 0; item < count; item++) {
      const { parent } = tree.items[item]!;
      this.#level[item] = parent >= 0 ? this.#level[parent]! + 1 : 1;
      this.#position[item] = ++this.#siblings[parent + 1]!;
    }
    this.#order = depthFirst(tree);
    this.#rowOfItem = new Int32Array(count);
    let row = 0;
    for (const item of this.#order) {
      this.#rowOfItem[item] = row;
      row += isPaired ? 1 + this.#nodesOf(item).length : 1;
    }
    this.length = row;
  }

  at(row: number): OutlineRow {
    const index = this.#itemAt(row);
    const item = this.tree.items[index]!;
    const level = this.#level[index]!;
    const nodes = this.#nodesOf(index);
    const below = row - this.#rowOfItem[index]! - 1;
    if (below >= 0) {
      const node = nodes[below]!;
      return {
        ...this.#writer.marked(this.#writer.gradNode(node, "", `grad_node:${node}`), "grad_node"),
        level: level + 1,
        position: below + 1,
        siblings: nodes.length,
      };
    }
    return {
      ...this.#writer.marked(this.#writer.row(item), item.kind),
      ...(nodes.length ? { expanded: true } : {}),
      level,
      position: this.#position[index]!,
      siblings: this.#siblings[item.parent + 1]!,
    };
  }

  /** The label of a row. */
  label(row: number): string {
    const index = this.#itemAt(row);
    const node = this.#nodesOf(index)[row - this.#rowOfItem[index]! - 1];
    return node === undefined
      ? this.#writer.label(this.tree.items[index]!)
      : this.store.trace.gradNodeLabel(node);
  }

  /** The parent row of a row, or the row itself at the top level. */
  around(row: number): number {
    const index = this.#itemAt(row);
    if (row > this.#rowOfItem[index]!) {
      return this.#rowOfItem[index]!;
    }
    const { parent } = this.tree.items[index]!;
    return parent >= 0 ? this.#rowOfItem[parent]! : row;
  }

  /** The first row that shows the selection itself, -1 for none. */
  rowOf(selection: Selection): number {
    const { trace } = this.store;
    switch (selection.kind) {
      case "op":
        return this.#rowOfKey((item) => item.kind === "op" && item.key === selection.op);
      case "grad_node": {
        const node = selection.gradNode;
        const own = this.#rowOfKey((item) => item.kind === "grad_node" && item.key === node);
        const op = trace.pairedOp(node);
        if (own >= 0 || op < 0 || !this.isPaired) {
          return own;
        }
        const at = this.tree.items.findIndex((item) => item.kind === "op" && item.key === op);
        const below = at >= 0 ? this.#nodesOf(at).indexOf(node) : -1;
        return below >= 0 ? this.#rowOfItem[at]! + 1 + below : -1;
      }
      case "group":
        return this.#rowOfKey(
          ({ kind, key }) => (kind === "group" || kind === "fold") && key === selection.group,
        );
      case "tensor":
        return this.#rowOfKey((item) => item.kind === "tensor" && item.key === selection.tensor);
      default:
        return -1;
    }
  }

  #rowOfKey(isMeant: (item: VisibleItem) => boolean): number {
    const at = this.tree.items.findIndex(isMeant);
    return at >= 0 ? this.#rowOfItem[at]! : -1;
  }

  #nodesOf(index: number): number[] {
    const item = this.tree.items[index]!;
    const isPaired = this.isPaired;
    return isPaired && item.kind === "op"
      ? Array.from(this.store.trace.gradNodesOfOp(item.key)).filter((node) => isPaired[node])
      : [];
  }

  /** The item of a row, found by binary search. Along `#order`, the rows increase. */
  #itemAt(row: number): number {
    let low = 0;
    let high = this.#order.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#rowOfItem[this.#order[middle]!]! <= row) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return this.#order[low]!;
  }
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

  /** The row with the marks of its findings. */
  marked(row: RowContent, kind: ItemKind): RowContent {
    const box = { ...row, kind: kind === "fold" ? kind : ("op" as const) };
    // The row of a closed group has the marks of its ops and of its grad nodes. The content of an
    // open group has its own rows.
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
          sign: SEVERITY_SIGNS[first.finding.severity],
          name: [row.name, ...markLines(marks)].join(t("list.between")),
        }
      : row;
  }

  label(item: VisibleItem): string {
    return item.kind === "op" ? this.store.trace.opLabel(item.key) : this.row(item).label;
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
    const name = [
      t("grad_node.named", { name: label }),
      through && t("outline.layer", { layer: through }),
    ]
      .filter(Boolean)
      .join(t("list.between"));
    return { ...NOTHING, id, label, sublabel: through, name, gradNode };
  }

  #op(item: VisibleItem): RowContent {
    const { trace } = this.store;
    const op = item.key;
    const label = trace.opLabel(op);
    const layer = trace.layerOf(op);
    const shapes = shapesOf(trace, trace.outputsOf(op));
    const parts = [
      t("outline.op", { name: label, op }),
      layer && t("outline.layer", { layer }),
      shapes.length ? t("outline.gives", { shapes: shapes.slice(0, 4).join(" ") }) : "",
      trace.at("ops", "raised", op) ? t("outline.raised") : "",
    ];
    const sublabel = item.through || shapes[0] || "";
    return {
      ...NOTHING,
      id: item.id,
      label,
      sublabel,
      name: parts.filter(Boolean).join(t("list.between")),
      op,
    };
  }

  #tensor(item: VisibleItem): RowContent {
    const { trace } = this.store;
    const label = trace.tensorLabel(item.key) || t(`tensor_kind.${trace.tensorKind(item.key)}`);
    const sublabel = trace.textAt("tensors", "shape", item.key);
    const name = [t(`tensor_kind.${trace.tensorKind(item.key)}`), label, sublabel].join(" ");
    return { ...NOTHING, id: item.id, label, sublabel, name, tensor: item.key };
  }

  #group(item: VisibleItem): RowContent {
    const { trace, hierarchy, state, oddSiblings } = this.store;
    const isFold = item.kind === "fold";
    const members = isFold ? foldAround(hierarchy, state, item.key) : [item.key];
    const label = isFold ? foldLabel(this.store, item.key) : trace.groupLabel(item.key);
    const className = trace.textAt("groups", "class", item.key);
    const count = leafCountText(this.store, state.mode === "backward", members, item.leafCount);
    const kind = isFold
      ? t("outline.repeated", { n: members.length })
      : t(`group_kind.${trace.groupKind(item.key)}`);
    return {
      ...NOTHING,
      id: item.id,
      label,
      sublabel:
        className || [isFold ? "" : trace.turnValue(item.key), count].filter(Boolean).join(" · "),
      name: [`${kind} ${label}`, className, count, isFold ? "" : oddSiblings.sentence(item.key)]
        .filter(Boolean)
        .join(t("list.between")),
      expanded: item.isOpen,
      group: item.key,
      fold: isFold ? item.key : -1,
    };
  }
}

/**
 * The items in reading order. `items` lists parameters last, but they belong inside their groups.
 */
function depthFirst({ items }: VisibleTree): Int32Array {
  const inside = new Int32Array(items.length).fill(1);
  for (let item = items.length - 1; item >= 0; item--) {
    const { parent } = items[item]!;
    if (parent >= 0) {
      inside[parent]! += inside[item]!;
    }
  }
  // For each parent, the position of its next child: after the earlier children and everything
  // inside them.
  const next = new Int32Array(items.length + 1);
  const order = new Int32Array(items.length);
  for (let item = 0; item < items.length; item++) {
    const { parent } = items[item]!;
    const place = next[parent + 1]!;
    order[place] = item;
    next[parent + 1]! += inside[item]!;
    next[item + 1] = place + 1;
  }
  return order;
}
