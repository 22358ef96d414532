/** Rows of the table of what was alive: made once, then only what has changed is written. */
import { element } from "../../../dom/element.ts";
import { swatch } from "../figure/swatch.ts";

/** What a row says; texts as they are shown. */
export interface RowContent {
  readonly group: number;
  readonly label: string;
  readonly note: string;
  /** Whether a click on it selects something. */
  readonly isLink: boolean;
  /** Position in MEMORY_KINDS of the swatch before the name, -1 for none. */
  readonly swatch: number;
  readonly size: string;
  readonly barStyle: string;
  readonly share: string;
  readonly count: string;
  /** "" where no span is chosen. */
  readonly allocated: string;
}

export class AliveRow {
  readonly element: HTMLTableRowElement;
  readonly #name = element("td", { class: "pdl-alive-name" });
  readonly #size = cell();
  readonly #bar = element("span");
  readonly #share = document.createTextNode("");
  readonly #count = cell();
  readonly #allocated = cell();
  #shown: RowContent | undefined;

  constructor() {
    this.element = element(
      "tr",
      {},
      this.#name,
      this.#size.element,
      element(
        "td",
        { class: "pdl-share" },
        element("span", { class: "pdl-share-bar", "aria-hidden": "true" }, this.#bar),
        element("span", {}, this.#share),
      ),
      this.#count.element,
      this.#allocated.element,
    );
  }

  get group(): number | undefined {
    return this.#shown?.group;
  }

  show(content: RowContent): void {
    const shown = this.#shown;
    this.#shown = content;
    if (
      shown?.group !== content.group ||
      shown.label !== content.label ||
      shown.note !== content.note ||
      shown.isLink !== content.isLink
    ) {
      this.element.dataset.group = String(content.group);
      this.#name.replaceChildren(...nameParts(content));
    }
    if (shown?.barStyle !== content.barStyle) {
      this.#bar.style.cssText = content.barStyle;
    }
    write(this.#share, content.share);
    write(this.#size.text, content.size);
    write(this.#count.text, content.count);
    write(this.#allocated.text, content.allocated);
    this.#allocated.element.hidden = content.allocated === "";
  }

  mark(isSelected: boolean | undefined): void {
    if (isSelected === undefined) {
      this.element.removeAttribute("aria-selected");
    } else if (this.element.getAttribute("aria-selected") !== String(isSelected)) {
      this.element.setAttribute("aria-selected", String(isSelected));
    }
  }
}

function nameParts({ label, note, isLink, swatch: kind }: RowContent): (Node | string)[] {
  const name = isLink
    ? element("button", { type: "button", class: "pdl-link", title: label }, label)
    : element("span", {}, label);
  return [
    ...(kind >= 0 ? [swatch(kind)] : []),
    name,
    ...(note ? [" ", element("small", { title: note }, note)] : []),
  ];
}

function cell(): { element: HTMLTableCellElement; text: Text } {
  const text = document.createTextNode("");
  return { element: element("td", { class: "pdl-number" }, text), text };
}

/** A text that is what it was costs the page no layout. */
function write(text: Text, value: string): void {
  if (text.data !== value) {
    text.data = value;
  }
}
