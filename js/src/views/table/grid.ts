/** The table's rows in the page: only the visible rows exist. */

import { element } from "../../dom/element.ts";

export const ROW_PX = 24;
/** How many rows are written beyond the visible ones, once the reader scrolls. */
const SPARE_ROWS = 20;

export interface GridRows {
  readonly length: number;
  /** The cells of the row at a position. */
  cells(at: number): HTMLElement[];
  isSelected(at: number): boolean;
  /** Whether the selection is inside of the row. */
  isLit(at: number): boolean;
}

export class Grid {
  /** The scrolling element. */
  readonly element: HTMLElement;
  readonly #table: HTMLElement;
  readonly #body = element("tbody");
  readonly #spacers = [spacer(), spacer()] as const;
  readonly #id = `pdl-${Math.random().toString(36).slice(2)}`;
  #rows: GridRows | undefined;
  #first = 0;
  #end = -1;
  /** The row from which the keys move, -1 for none. */
  #current = -1;

  /** @param pick called with the position of a row that was clicked, or that a key has reached */
  constructor(
    label: string,
    head: HTMLElement,
    foot: HTMLElement,
    readonly pick: (at: number, isByKey: boolean) => void,
  ) {
    this.#table = element(
      "table",
      {
        role: "grid",
        tabindex: 0,
        "aria-label": label,
        onclick: (event: MouseEvent) => this.#click(event),
        onkeydown: (event: KeyboardEvent) => this.#press(event),
      },
      head,
      this.#body,
      foot,
    );
    this.element = element("div", { class: "pdl-costs-rows pdl-scroll" }, this.#table);
    this.element.addEventListener("scroll", () => this.#write(false), { passive: true });
  }

  focus(): void {
    this.#table.focus({ preventScroll: true });
  }

  /** Show other rows, from the first. */
  show(rows: GridRows): void {
    this.#rows = rows;
    this.#current = -1;
    this.#table.setAttribute("aria-rowcount", String(rows.length + 2));
    this.element.scrollTop = 0;
    this.#write(true, 0);
  }

  /** Show the same rows with changed marks. */
  mark(rows: GridRows): void {
    this.#rows = rows;
    this.#write(true);
  }

  /** Write the visible rows, after the view has changed its size. */
  refresh(): void {
    this.#write(true);
  }

  /** Scroll to a row, and let the keys continue from it. */
  reveal(at: number): void {
    this.#current = at;
    const [head, foot] = this.#edges();
    const top = at * ROW_PX;
    const { scrollTop, clientHeight } = this.element;
    const room = clientHeight - head - foot;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + ROW_PX > scrollTop + room) this.element.scrollTop = top + ROW_PX - room;
    this.#write(true);
  }

  #edges(): [number, number] {
    const height = (of: string): number =>
      this.#table.querySelector<HTMLElement>(of)?.offsetHeight ?? 0;
    return [height("thead"), height("tfoot")];
  }

  #write(isAnew: boolean, spareRows = SPARE_ROWS): void {
    const rows = this.#rows;
    if (!rows) return;
    const seen = Math.floor(this.element.scrollTop / ROW_PX);
    const seenEnd = Math.min(
      rows.length,
      seen + Math.ceil((this.element.clientHeight || 600) / ROW_PX) + 1,
    );
    if (!isAnew && seen >= this.#first && seenEnd <= this.#end) return;
    this.#first = Math.max(0, seen - spareRows);
    this.#end = Math.min(rows.length, seenEnd + spareRows);
    const written: HTMLElement[] = [];
    for (let at = this.#first; at < this.#end; at++) {
      written.push(
        element(
          "tr",
          {
            id: `${this.#id}-${at}`,
            "data-at": at,
            "aria-rowindex": at + 2,
            "aria-selected": String(rows.isSelected(at)),
            "data-lit": rows.isLit(at),
          },
          ...rows.cells(at),
        ),
      );
    }
    this.#spacers[0].style.height = `${this.#first * ROW_PX}px`;
    this.#spacers[1].style.height = `${(rows.length - this.#end) * ROW_PX}px`;
    this.#body.replaceChildren(this.#spacers[0], ...written, this.#spacers[1]);
    const isWritten = this.#current >= this.#first && this.#current < this.#end;
    if (isWritten)
      this.#table.setAttribute("aria-activedescendant", `${this.#id}-${this.#current}`);
    else this.#table.removeAttribute("aria-activedescendant");
  }

  #click(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>("tr[data-at]");
    if (!row) return;
    this.focus();
    this.#go(Number(row.dataset.at), false);
  }

  #press(event: KeyboardEvent): void {
    if (event.target !== this.#table || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = (this.#rows?.length ?? 0) - 1;
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_PX) - 3);
    const from = this.#current;
    const to: Readonly<Record<string, number>> = {
      ArrowDown: from + 1,
      ArrowUp: from < 0 ? last : from - 1,
      PageDown: from + page,
      PageUp: from - page,
      Home: 0,
      End: last,
      Enter: from,
    };
    const at = to[event.key];
    if (at === undefined || last < 0 || (event.key === "Enter" && from < 0)) return;
    event.preventDefault();
    event.stopPropagation();
    this.#go(Math.max(0, Math.min(last, at)), event.key !== "Enter");
  }

  #go(at: number, isByKey: boolean): void {
    this.reveal(at);
    this.pick(at, isByKey);
  }
}

function spacer(): HTMLElement {
  return element("tr", { "aria-hidden": "true", class: "pdl-costs-spacer" });
}
