/**
 * The outline: what is open, as an ARIA tree in step with the picture. It is the way of the
 * keyboard and the screen reader, and can be shown beside the picture.
 */

import { membersOf } from "../model/leaves.ts";
import type { Selection, Store } from "../model/store.ts";
import type { VisibleTree } from "../model/visible.ts";
import { element } from "./element.ts";
import { toggleGroup } from "./opening.ts";
import { type OutlineRow, outlineRows } from "./outline_rows.ts";
import type { Scene } from "./scene.ts";

const ROW_PX = 20;
/** Rows in the document at a time; the others are room above and below. */
const MOST_ROWS = 1200;
const TYPE_AHEAD_MS = 700;

export class Outline {
  readonly element: HTMLElement;
  readonly #store: Store;
  #rows: OutlineRow[] = [];
  #first = 0;
  /** Id of the row that Tab reaches. */
  #current = "";
  #typed = "";
  #typed_ms = 0;
  #centres = new Map<string, string>();
  #tree: VisibleTree | undefined;
  readonly #unsubscribe: () => void;

  constructor(root: HTMLElement, store: Store) {
    this.#store = store;
    this.element = root;
    root.setAttribute("role", "tree");
    root.setAttribute("aria-label", "Outline of the graph");
    root.addEventListener("keydown", (event) => this.#press(event));
    root.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("dblclick", (event) => this.#toggle(this.#rowOf(event.target)));
    root.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#unsubscribe = store.subscribe((state, previous) => {
      if (state.selection !== previous.selection) {
        this.#follow(this.#store.selectionInGraph);
      }
      // Some marks are shown for the finding in view alone.
      if (state.finding !== previous.finding && this.#tree) {
        this.show(this.#tree);
      }
    });
  }

  dispose(): void {
    this.#unsubscribe();
    this.element.replaceChildren();
  }

  show(tree: VisibleTree): void {
    this.#tree = tree;
    const { state, trace } = this.#store;
    const isLadder = state.mode === "ladder";
    const isMember = isLadder ? membersOf(trace, state.backwardCall) : new Uint8Array(0);
    this.#rows = outlineRows(this.#store, tree, isLadder, isMember);
    this.#follow(this.#store.selectionInGraph);
  }

  /** Note where the picture shows each row: the way from a row to its place for whoever asks. */
  place(scene: Scene): void {
    this.#centres = new Map(
      [
        ...scene.boxes,
        ...scene.frames.map((frame) => ({
          ...frame,
          height: 24,
          y: frame.y - frame.height / 2 + 12,
        })),
      ].map((item) => [item.id, `${item.x.toFixed(1)} ${item.y.toFixed(1)}`]),
    );
    for (const row of this.element.querySelectorAll<HTMLElement>("[data-id]")) {
      this.#placeRow(row);
    }
  }

  #placeRow(row: HTMLElement): void {
    const centre = this.#centres.get(row.dataset.id!);
    if (centre === undefined) {
      delete row.dataset.centre;
    } else {
      row.dataset.centre = centre;
    }
  }

  #follow(selection: Selection): void {
    const at = this.#rows.findIndex((row) => isSelected(row, selection));
    const isFocused = this.element.contains(document.activeElement);
    if (at >= 0) {
      this.#current = this.#rows[at]!.id;
      this.#windowAround(at);
    }
    this.#render();
    if (at >= 0) {
      const row = this.#elementOf(this.#current);
      this.#scrollTo(at);
      if (isFocused) {
        row?.focus({ preventScroll: true });
      }
    } else if (isFocused && !this.element.contains(document.activeElement)) {
      this.#elementOf(this.#current)?.focus({ preventScroll: true });
    }
  }

  #windowAround(at: number): void {
    if (at < this.#first || at >= this.#first + MOST_ROWS) {
      this.#first = Math.max(0, at - MOST_ROWS / 2);
    }
  }

  #render(): void {
    const rows = this.#rows;
    this.#first = Math.max(0, Math.min(this.#first, rows.length - MOST_ROWS));
    const end = Math.min(rows.length, this.#first + MOST_ROWS);
    const shown = rows.slice(this.#first, end);
    if (!shown.some((row) => row.id === this.#current)) {
      this.#current = shown[0]?.id ?? "";
    }
    const ops = this.#store.litOps();
    const gradNodes = this.#store.litGradNodes();
    const isLit = (row: OutlineRow): boolean =>
      (row.op >= 0 && ops[row.op] === 1) || (row.gradNode >= 0 && gradNodes[row.gradNode] === 1);
    this.element.replaceChildren(
      spacer(this.#first),
      ...shown.map((row) => this.#rowElement(row, isLit(row))),
      spacer(rows.length - end),
    );
  }

  #rowElement(row: OutlineRow, isLit: boolean): HTMLElement {
    const key = (value: number): number | undefined => (value >= 0 ? value : undefined);
    const sign = row.expanded === undefined || row.op >= 0 ? "" : row.expanded ? "▾" : "▸";
    const line = element(
      "div",
      { class: isLit ? "pdl-row pdl-row-lit" : "pdl-row" },
      element("span", { class: "pdl-row-sign", "aria-hidden": "true" }, sign),
      !!row.sign && element("span", { class: "pdl-row-mark" }, row.sign),
      element("span", {}, row.label),
      !!row.sublabel && element("small", {}, row.sublabel),
    );
    line.style.setProperty("--pdl-level", String(row.level - 1));
    const made = element(
      "div",
      {
        role: "treeitem",
        "aria-label": row.name,
        "aria-level": row.level,
        "aria-posinset": row.position,
        "aria-setsize": row.siblings,
        "aria-expanded": row.expanded === undefined ? undefined : String(row.expanded),
        "aria-selected": String(isSelected(row, this.#store.selectionInGraph)),
        tabindex: row.id === this.#current ? "0" : "-1",
        "data-id": row.id,
        "data-op": key(row.op),
        "data-grad-node": key(row.gradNode),
        "data-group": key(row.group),
        "data-tensor": key(row.tensor),
        "data-lit": isLit || undefined,
      },
      line,
    );
    this.#placeRow(made);
    return made;
  }

  #press(event: KeyboardEvent): void {
    const at = this.#rows.findIndex((row) => row.id === this.#rowOf(event.target)?.id);
    const row = this.#rows[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const to = this.#destination(event.key, at, row);
    if (to !== undefined) {
      this.#select(this.#rows[Math.max(0, Math.min(this.#rows.length - 1, to))]!);
    } else if (
      event.key === "Enter" ||
      event.key === " " ||
      (event.key === "ArrowRight" && row.expanded === false) ||
      (event.key === "ArrowLeft" && row.expanded === true && row.group >= 0)
    ) {
      this.#select(row);
      this.#toggle(row);
    } else if (!this.#typeAhead(event, at)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #destination(key: string, at: number, row: OutlineRow): number | undefined {
    switch (key) {
      case "ArrowDown":
        return at + 1;
      case "ArrowUp":
        return at - 1;
      case "Home":
        return 0;
      case "End":
        return this.#rows.length - 1;
      case "ArrowRight":
        return row.expanded === false ? undefined : at + 1;
      case "ArrowLeft": {
        if (row.expanded && row.group >= 0) {
          return undefined;
        }
        const above = this.#rows.findLastIndex((other, i) => i < at && other.level < row.level);
        return above >= 0 ? above : at;
      }
      default:
        return undefined;
    }
  }

  /** Letters lead to the next row that begins with them; single-key commands are the app's. */
  #typeAhead(event: KeyboardEvent, at: number): boolean {
    const isLetter = /^[\p{L}_]$/u.test(event.key);
    const isRecent = event.timeStamp - this.#typed_ms < TYPE_AHEAD_MS;
    if (!isLetter || (!isRecent && COMMANDS.has(event.key))) {
      return false;
    }
    this.#typed = (isRecent ? this.#typed : "") + event.key.toLowerCase();
    this.#typed_ms = event.timeStamp;
    const start = this.#typed.length > 1 ? at : at + 1;
    for (let step = 0; step < this.#rows.length; step++) {
      const row = this.#rows[(start + step) % this.#rows.length]!;
      if (row.label.toLowerCase().startsWith(this.#typed)) {
        this.#select(row);
        break;
      }
    }
    return true;
  }

  #click(event: MouseEvent): void {
    const row = this.#rowOf(event.target);
    if (!row) {
      return;
    }
    this.#current = row.id;
    this.#select(row);
    if ((event.target as Element).classList.contains("pdl-row-sign")) {
      this.#toggle(row);
    }
  }

  #select(row: OutlineRow): void {
    this.element.contains(document.activeElement) || this.#elementOf(row.id)?.focus();
    this.#store.select(selectionOf(row), { reveal: true });
  }

  #toggle(row: OutlineRow | undefined): void {
    if (row && row.group >= 0) {
      toggleGroup(this.#store, row.group, row.fold >= 0);
    }
  }

  #rowOf(target: EventTarget | null): OutlineRow | undefined {
    const id = (target as Element | null)?.closest<HTMLElement>("[data-id]")?.dataset.id;
    return this.#rows.find((row) => row.id === id);
  }

  #elementOf(id: string): HTMLElement | undefined {
    return [...this.element.children].find((row) => (row as HTMLElement).dataset.id === id) as
      | HTMLElement
      | undefined;
  }

  #scrollTo(at: number): void {
    const { scrollTop, clientHeight } = this.element;
    const top = at * ROW_PX;
    if (clientHeight > ROW_PX && (top < scrollTop || top + ROW_PX > scrollTop + clientHeight)) {
      this.element.scrollTop = top - clientHeight / 2;
    }
  }

  #scrolled(): void {
    if (this.element.clientHeight <= ROW_PX) {
      return; // hidden from view: the window follows the selection alone
    }
    const first = Math.floor(this.element.scrollTop / ROW_PX);
    const last = first + Math.ceil(this.element.clientHeight / ROW_PX);
    if (first < this.#first || last > Math.min(this.#rows.length, this.#first + MOST_ROWS)) {
      this.#first = Math.max(0, first - MOST_ROWS / 2);
      this.#render();
    }
  }
}

/** Keys that the app answers wherever the focus is. */
const COMMANDS = new Set(["e", "f", "p"]);

function selectionOf(row: OutlineRow): Selection {
  if (row.op >= 0) {
    return { kind: "op", op: row.op };
  }
  if (row.gradNode >= 0) {
    return { kind: "grad_node", gradNode: row.gradNode };
  }
  return row.tensor >= 0
    ? { kind: "tensor", tensor: row.tensor }
    : { kind: "group", group: row.group };
}

function isSelected(row: OutlineRow, selection: Selection): boolean {
  switch (selection.kind) {
    case "op":
      return row.op === selection.op;
    case "grad_node":
      return row.gradNode === selection.gradNode;
    case "group":
      return row.group === selection.group;
    case "tensor":
      return row.tensor === selection.tensor;
    default:
      return false;
  }
}

function spacer(rows: number): HTMLElement {
  const made = element("div", { role: "presentation" });
  made.style.height = `${rows * ROW_PX}px`;
  return made;
}
