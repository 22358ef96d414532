/** The search field; its results are shown step by step or in a list. */

import { element } from "../../dom/element.ts";
import { keepInside } from "../../dom/menu.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { formatCount } from "../../words/quantities.ts";
import { iconButton } from "../controls.ts";
import { frameLabel } from "../names/stack_order.ts";
import type { Problem } from "./filters/filter.ts";
import { exampleRows, problemRows } from "./search_help.ts";
import { SearchIndex } from "./search_index.ts";

const MOST_LISTED = 50;

/**
 * @param root the `.pdl-search` element
 * @returns a function that removes the field
 */
export function mountSearch(root: HTMLElement, store: Store): () => void {
  const { trace } = store;
  // The index is made on the first key, because most traces are viewed before they are searched.
  let index: SearchIndex | undefined;
  /** Position of the shown match, -1 before the first. */
  let at = -1;
  /** The problem of a wrong filter in the query. */
  let problem: Problem | undefined;
  /** Whether the user has closed the examples. Then the arrow keys open them. */
  let isHelpClosed = false;
  /** Position of the marked row among the rows that fill the field, -1 for none. */
  let marked = -1;
  /** The element that had the focus before the search field got the focus. */
  let before: EventTarget | null = null;
  const id = `pdl-${Math.random().toString(36).slice(2)}`;
  const input: HTMLInputElement = element("input", {
    class: "pdl-search-input",
    type: "search",
    role: "combobox",
    placeholder: t("search.placeholder"),
    "aria-label": t("search.label"),
    "aria-controls": id,
    "aria-expanded": "false",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => search(input.value),
    onfocus: (event: FocusEvent) => {
      before = event.relatedTarget;
      if (input.value) showList(true);
      else if (!isHelpClosed) showHelp();
    },
    onkeydown: press,
  });
  const text = element("span", { role: "status" });
  const previous = stepButton("‹", t("search.previous"), -1);
  const next = stepButton("›", t("search.next"), 1);
  const count = element("span", { class: "pdl-search-count", hidden: true }, text, previous, next);
  const list = element("div", {
    class: "pdl-float pdl-search-list",
    id,
    role: "listbox",
    "aria-label": t("search.found"),
    hidden: true,
    // The field keeps the focus when the list is pressed.
    onmousedown: (event: MouseEvent) => event.preventDefault(),
    onclick: (event: MouseEvent) => {
      const option = (event.target as Element).closest<HTMLElement>("[role=option]");
      if (!option) return;
      if (option.dataset.fill !== undefined) {
        fill(option.dataset.fill);
        return;
      }
      goTo(Number(option.dataset.at));
      showList(false);
    },
  });
  root.append(input, count, list);
  const onFocusOut = (event: FocusEvent) => {
    if (!root.contains(event.relatedTarget as Node | null)) showList(false);
  };
  root.addEventListener("focusout", onFocusOut);
  const unsubscribe = store.subscribe((state, before) => {
    if (state.query === before.query) return;
    if (state.query !== input.value) input.value = state.query;
    render();
  });
  render();

  function search(query: string): void {
    index ??= new SearchIndex(trace);
    at = -1;
    const answer = index.ask(query);
    problem = answer.problem;
    store.update({ query, matches: answer.matches });
    if (query.trim() !== "") showList(true);
    else if (!isHelpClosed && input === document.activeElement) showHelp();
  }

  function fill(query: string): void {
    input.value = query;
    input.focus();
    search(query);
  }

  function showHelp(): void {
    const close = (): void => {
      isHelpClosed = true;
      showList(false);
    };
    marked = -1;
    input.removeAttribute("aria-activedescendant");
    list.replaceChildren(...exampleRows(trace, close));
    list.setAttribute("aria-label", t("search.examples"));
    list.scrollTop = 0;
    showList(true);
  }

  /** The rows that write a query into the field: examples, or corrections of a wrong filter. */
  function fillRows(): HTMLElement[] {
    return list.hidden ? [] : [...list.querySelectorAll<HTMLElement>("[data-fill]")];
  }

  function mark(options: readonly HTMLElement[], by: number): void {
    const from = marked < 0 && by < 0 ? 0 : marked;
    marked = (from + by + options.length) % options.length;
    options.forEach((option, place) => {
      option.id = `${id}-fill-${place}`;
      option.setAttribute("aria-selected", String(place === marked));
    });
    const option = options[marked]!;
    input.setAttribute("aria-activedescendant", option.id);
    list.scrollTop = Math.max(0, option.offsetTop - list.clientHeight / 2);
  }

  function press(event: KeyboardEvent): void {
    // Neither the picture nor the notebook may handle these keys.
    event.stopPropagation();
    if (event.isComposing) return;
    const options = fillRows();
    const isArrow = event.key === "ArrowDown" || event.key === "ArrowUp";
    const by = event.key === "ArrowUp" ? -1 : 1;
    if (event.key === "Enter" && marked >= 0 && options.length)
      fill(options[marked]!.dataset.fill!);
    else if (isArrow && options.length) mark(options, by);
    else if (isArrow && !input.value) showHelp();
    else if (event.key === "Enter") step(event.shiftKey ? -1 : 1, false);
    else if (isArrow) step(by, true);
    else if (event.key === "Escape") {
      // Escape first closes the list, then clears the query. The examples close with the field.
      if (!list.hidden && input.value) showList(false);
      else if (input.value) {
        input.value = "";
        search("");
      } else leave();
    } else return;
    event.preventDefault();
  }

  /** Return the focus to its earlier element in this view, or else to the picture. */
  function leave(): void {
    const app = root.closest(".pdl-app");
    const isHere = before instanceof HTMLElement && app?.contains(before);
    input.blur();
    (isHere ? (before as HTMLElement) : app?.querySelector("canvas"))?.focus();
  }

  /** The arrow keys keep the list open; other steps close it to show the result. */
  function step(by: number, keepsList: boolean): void {
    // One step back from before the first match goes to the last match.
    goTo(at < 0 && by < 0 ? -1 : at + by);
    showList(keepsList);
  }

  function goTo(position: number): void {
    const { matches } = store.state;
    if (matches.length === 0) return;
    at = (position + matches.length) % matches.length;
    store.select({ kind: "op", op: matches[at]! }, { reveal: true });
    render();
  }

  function showList(isShown: boolean): void {
    list.hidden = !isShown;
    input.setAttribute("aria-expanded", String(isShown));
    if (isShown) keepInside(list);
  }

  function render(): void {
    const { query, matches } = store.state;
    const isAsked = query.trim() !== "";
    count.hidden = !isAsked;
    previous.disabled = next.disabled = matches.length === 0;
    text.textContent =
      matches.length === 0
        ? t("search.none")
        : at >= 0
          ? t("search.at", { at: at + 1, n: matches.length })
          : formatCount(matches.length);
    input.style.paddingRight = isAsked ? `${count.offsetWidth + 8}px` : "";
    marked = -1;
    list.setAttribute("aria-label", t("search.found"));
    list.replaceChildren(...(isAsked ? rows(query, matches) : []));
    const current = list.querySelector<HTMLElement>('[aria-selected="true"]');
    if (current) {
      input.setAttribute("aria-activedescendant", current.id);
      // scrollIntoView() would move the notebook as well.
      list.scrollTop = Math.max(0, current.offsetTop - list.clientHeight / 2);
    } else {
      input.removeAttribute("aria-activedescendant");
    }
    if (!isAsked) showList(false);
  }

  function rows(query: string, matches: readonly number[]): HTMLElement[] {
    if (problem) return problemRows(problem, query);
    if (matches.length === 0)
      return [note(t("search.nothing", { query: query.trim() })), note(t("search.hint"))];
    // The window of the list moves with the steps.
    const start = Math.floor(Math.max(0, at) / MOST_LISTED) * MOST_LISTED;
    const listed: HTMLElement[] = [];
    let place: string | undefined;
    matches.slice(start, start + MOST_LISTED).forEach((op, offset) => {
      const around = placeOf(store, op);
      if (around !== place) {
        place = around;
        listed.push(
          element(
            "div",
            { class: "pdl-search-group", role: "presentation" },
            around || t("search.no_layer"),
          ),
        );
      }
      listed.push(option(op, start + offset));
    });
    const rest = matches.length - start - MOST_LISTED;
    if (rest > 0) listed.push(note(t("search.more", { n: rest })));
    return listed;
  }

  function option(op: number, position: number): HTMLElement {
    const frame = trace.ownFrameOf(op);
    return element(
      "div",
      {
        id: `${id}-${position}`,
        role: "option",
        "data-at": position,
        "aria-selected": String(position === at),
      },
      element("span", { class: `pdl-${trace.phaseOf(op)}-text` }, trace.opLabel(op)),
      element(
        "small",
        {},
        [frame >= 0 && frameLabel(trace, frame), `#${op}`].filter(Boolean).join(" · "),
      ),
    );
  }

  function stepButton(label: string, name: string, by: number): HTMLButtonElement {
    return iconButton(label, name, () => step(by, false), {
      class: "pdl-button pdl-quiet",
      tabindex: "-1",
    });
  }

  return () => {
    unsubscribe();
    root.removeEventListener("focusout", onFocusOut);
    root.replaceChildren();
  };
}

/** "step 3 · blocks.0": the layer of an op, and the repeated call or iteration that it is in. */
function placeOf({ trace, hierarchy }: Store, op: number): string {
  const group = trace.groupOfOp(op);
  const repeated = (group < 0 ? [] : trace.groupPath(group)).find(
    (at) => ["call", "turn"].includes(trace.groupKind(at)) && hierarchy.runOf[at]! >= 0,
  );
  const call = repeated === undefined ? "" : trace.groupLabel(repeated);
  return [call, trace.layerOf(op)].filter(Boolean).join(" · ");
}

function note(text: string): HTMLElement {
  return element("div", { class: "pdl-search-note", role: "presentation" }, text);
}
