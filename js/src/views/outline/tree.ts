/**
 * The outline: open groups and their content, as an ARIA tree that matches the picture. Keyboard
 * and screen readers use it. It can also be shown next to the picture.
 */

import { element } from "../../dom/element.ts";
import { membersOf } from "../../model/gradients/backward_calls.ts";
import type { Store } from "../../model/state/store.ts";
import type { Selection } from "../../model/state/view_state.ts";
import type { VisibleTree } from "../../model/visible/visible_tree.ts";
import { t } from "../../words/page.ts";
import { toggleGroup } from "../actions/opening.ts";
import { selectionOfBox } from "../actions/selecting.ts";
import { EMPTY_SCENE, type Scene } from "../scene/scene.ts";
import { TITLE_HEIGHT_PX } from "../scene/scene_index.ts";
import { type OutlineRow, OutlineRows } from "./outline_rows.ts";
import { markRow, rowElement } from "./row_element.ts";

const ROW_PX = 20;
/** The most rows that are all in the document. With more, only WINDOW_ROWS rows are in it. */
const MOST_ROWS = 1200;
const WINDOW_ROWS = 240;
const TYPE_AHEAD_MS = 700;

/** A row in the document, and the data from which the row was written. */
interface WrittenRow {
  readonly row: OutlineRow;
  readonly element: HTMLElement;
  /** All text of the row; a row with the same text reuses the element. */
  readonly said: string;
}

export class Outline {
  #rows: OutlineRows | undefined;
  /** The rows of which a part is in the document. */
  #writtenRows: OutlineRows | undefined;
  /** The rows in the document; the first of them is row `#first`. */
  #written: readonly WrittenRow[] = [];
  #first = 0;
  #writtenFirst = -1;
  /** Empty space in place of the rows before and after the window. */
  readonly #spacers = [spacer(), spacer()] as const;
  /** Id of the row that Tab reaches. */
  #current = "";
  #typed = "";
  #typed_ms = 0;
  #scene: Scene = EMPTY_SCENE;
  #tree: VisibleTree | undefined;
  readonly #unsubscribe: () => void;

  /** @param element the `.pdl-outline` element */
  constructor(
    readonly element: HTMLElement,
    readonly store: Store,
  ) {
    element.setAttribute("role", "tree");
    element.setAttribute("aria-label", t("outline.label"));
    element.replaceChildren(...this.#spacers);
    element.addEventListener("keydown", (event) => this.#press(event));
    element.addEventListener("click", (event) => this.#click(event));
    element.addEventListener("dblclick", (event) =>
      this.#toggle(this.#rowAt(this.#positionOf(event.target))),
    );
    element.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#unsubscribe = store.subscribe((state, previous) => {
      if (state.selection !== previous.selection) {
        this.#follow(this.store.selectionInGraph);
      }
      // Some marks are shown only for the current finding.
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
    const { state, trace } = this.store;
    const isPaired = state.mode === "ladder" ? membersOf(trace, state.backwardCall) : undefined;
    this.#rows = new OutlineRows(this.store, tree, isPaired);
    this.#follow(this.store.selectionInGraph);
  }

  /** Write into each row its place in the picture, in world px. */
  place(scene: Scene): void {
    this.#scene = scene;
    this.#placeRows();
  }

  #placeRows(): void {
    const elements = new Map(this.#written.map(({ row, element }) => [row.id, element]));
    const place = (id: string, x: number, y: number): void => {
      const row = elements.get(id);
      if (row) {
        row.dataset.centre = `${x.toFixed(1)} ${y.toFixed(1)}`;
        elements.delete(id);
      }
    };
    for (const { id, x, y } of this.#scene.boxes) {
      place(id, x, y);
    }
    for (const { id, x, y, height } of this.#scene.frames) {
      place(id, x, y - height / 2 + TITLE_HEIGHT_PX / 2);
    }
    for (const row of elements.values()) {
      delete row.dataset.centre;
    }
  }

  #follow(selection: Selection): void {
    const at = this.#rows?.rowOf(selection) ?? -1;
    const isFocused = this.element.contains(document.activeElement);
    if (at >= 0) {
      this.#current = this.#rows!.at(at).id;
      this.#windowAround(at);
    }
    this.#render();
    if (at >= 0) {
      this.#scrollTo(at);
      if (isFocused) {
        this.#elementOf(this.#current)?.focus({ preventScroll: true });
      }
    } else if (isFocused && !this.element.contains(document.activeElement)) {
      this.#elementOf(this.#current)?.focus({ preventScroll: true });
    }
  }

  get #rowCount(): number {
    return this.#rows?.length ?? 0;
  }

  /** How many rows are in the document at a time. */
  get #windowRows(): number {
    return this.#rowCount > MOST_ROWS ? WINDOW_ROWS : MOST_ROWS;
  }

  #windowAround(at: number): void {
    const rows = this.#windowRows;
    if (at < this.#first || at >= this.#first + rows) {
      this.#first = Math.max(0, at - rows / 2);
    }
  }

  #render(): void {
    const count = this.#rowCount;
    const first = Math.max(0, Math.min(this.#first, count - this.#windowRows));
    const end = Math.min(count, first + this.#windowRows);
    this.#first = first;
    if (this.#writtenRows !== this.#rows || this.#writtenFirst !== first) {
      this.#writtenRows = this.#rows;
      this.#writtenFirst = first;
      this.#write(first, end);
      this.#spacers[0].style.height = `${first * ROW_PX}px`;
      this.#spacers[1].style.height = `${(count - end) * ROW_PX}px`;
    }
    this.#mark();
  }

  #write(first: number, end: number): void {
    const before = new Map(this.#written.map((written) => [written.row.id, written]));
    const written: WrittenRow[] = [];
    for (let at = first; at < end; at++) {
      const row = this.#rows!.at(at);
      const said = Object.values(row).join("\n");
      const known = before.get(row.id);
      written.push(known?.said === said ? known : { row, said, element: rowElement(row) });
    }
    this.#put(written);
  }

  /** Mark the highlighted and selected rows in the document. */
  #mark(): void {
    if (!this.#written.some(({ row }) => row.id === this.#current)) {
      this.#current = this.#written[0]?.row.id ?? "";
    }
    const store = this.store;
    const selection = store.selectionInGraph;
    for (const { row, element } of this.#written) {
      markRow(element, {
        isLit:
          (row.op >= 0 && store.litOps()[row.op] === 1) ||
          (row.gradNode >= 0 && store.litGradNodes()[row.gradNode] === 1),
        isChosen: isSelected(row, selection),
        isCurrent: row.id === this.#current,
      });
    }
  }

  /** Replace the rows in the document; elements that stay are not touched. */
  #put(written: readonly WrittenRow[]): void {
    const kept = new Set(written);
    for (const old of this.#written.filter((row) => !kept.has(row))) {
      old.element.remove();
    }
    this.#written = written;
    let last = this.#spacers[0];
    for (const { element } of written) {
      if (last.nextSibling !== element) last.after(element);
      last = element;
    }
    this.#placeRows();
  }

  #press(event: KeyboardEvent): void {
    const at = this.#positionOf(event.target);
    const row = this.#rowAt(at);
    if (!row || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const to = this.#destination(event.key, at, row);
    if (to !== undefined) {
      this.#select(this.#rows!.at(Math.max(0, Math.min(this.#rowCount - 1, to))));
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
        return this.#rowCount - 1;
      case "ArrowRight":
        return row.expanded === false ? undefined : at + 1;
      case "ArrowLeft":
        return row.expanded && row.group >= 0 ? undefined : this.#rows!.around(at);
      default:
        return undefined;
    }
  }

  /**
   * Letters typed one after the other move to the next row that begins with them. A first letter that
   * is a command key goes to the app.
   */
  #typeAhead(event: KeyboardEvent, at: number): boolean {
    const isLetter = /^[\p{L}_]$/u.test(event.key);
    const isRecent = event.timeStamp - this.#typed_ms < TYPE_AHEAD_MS;
    if (!isLetter || (!isRecent && COMMANDS.has(event.key))) {
      return false;
    }
    this.#typed = (isRecent ? this.#typed : "") + event.key.toLowerCase();
    this.#typed_ms = event.timeStamp;
    const start = this.#typed.length > 1 ? at : at + 1;
    for (let step = 0; step < this.#rowCount; step++) {
      const to = (start + step) % this.#rowCount;
      if (this.#rows!.label(to).toLowerCase().startsWith(this.#typed)) {
        this.#select(this.#rows!.at(to));
        break;
      }
    }
    return true;
  }

  #click(event: MouseEvent): void {
    const row = this.#rowAt(this.#positionOf(event.target));
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
    this.store.select(selectionOfBox(row), { reveal: true });
  }

  #toggle(row: OutlineRow | undefined): void {
    if (row && row.group >= 0) {
      toggleGroup(this.store, row.group, row.fold >= 0);
    }
  }

  /** Position among all rows of the row that an event is about, -1 for none. */
  #positionOf(target: EventTarget | null): number {
    const row = (target as Element | null)?.closest<HTMLElement>("[data-id]");
    const at = row ? this.#written.findIndex((written) => written.element === row) : -1;
    return at >= 0 ? this.#first + at : -1;
  }

  #rowAt(position: number): OutlineRow | undefined {
    return this.#written[position - this.#first]?.row;
  }

  #elementOf(id: string): HTMLElement | undefined {
    return this.#written.find((written) => written.row.id === id)?.element;
  }

  #scrollTo(at: number): void {
    if (this.element.classList.contains("pdl-visually-hidden")) {
      return; // reading the scroll position would force a layout of the page
    }
    const { scrollTop, clientHeight } = this.element;
    const top = at * ROW_PX;
    if (clientHeight > ROW_PX && (top < scrollTop || top + ROW_PX > scrollTop + clientHeight)) {
      this.element.scrollTop = top - clientHeight / 2;
    }
  }

  #scrolled(): void {
    if (this.element.clientHeight <= ROW_PX) {
      return; // hidden: the window follows only the selection
    }
    const first = Math.floor(this.element.scrollTop / ROW_PX);
    const last = first + Math.ceil(this.element.clientHeight / ROW_PX);
    if (first < this.#first || last > Math.min(this.#rowCount, this.#first + this.#windowRows)) {
      this.#first = Math.max(0, first - this.#windowRows / 2);
      this.#render();
    }
  }
}

/** Keys that are commands of the app, wherever the focus is. */
const COMMANDS = new Set(["e", "f", "p", "v"]);

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

function spacer(): HTMLElement {
  return element("div", { role: "presentation" });
}
