/**
 * The whole text of a cell or file. A number next to a line is how many ops it made; pressing the
 * line highlights them.
 */

import { button, element } from "../../dom/element.ts";
import type { LineNow } from "../../model/state/open_source_event.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { formatShortCount } from "../../words/quantities.ts";
import { jumpToOp } from "../actions/jump.ts";
import { groupChip } from "../facts/facts.ts";
import { litOpKeys, litParts } from "../names/lit_parts.ts";
import { fileLabel } from "../names/stack_order.ts";
import { changedNote } from "./changed_note.ts";
import { codeLine, codeText } from "./code_line.ts";
import { pieceBar, pieceLegend, piecesOf } from "./pieces.ts";
import { tintPython } from "./python_tint.ts";
import { type SourceFile, sourceFiles } from "./source_files.ts";
import { countOpsByLine } from "./source_lines.ts";
import { mountSourcePicker } from "./source_picker.ts";

const MOST_PEEKED = 12;
/** Room for the highlighted line and the list below it. */
const ROOM_BELOW_PX = 80;
/** Longer files are shown without colours. */
const MOST_TINTED_LINES = 4000;

export interface SourceView {
  /**
   * Shows a line: highlighted, but not selected.
   *
   * @param now how the line has changed, if the cell or file was edited
   * @returns false if the trace does not have the text of the cell or file
   */
  show(file: number, line: number, now?: LineNow): boolean;
  /** Brings the highlighted line into view, once the page is visible. */
  scrollToLit(): void;
  readonly hasOwnSource: boolean;
  dispose(): void;
}

interface SourceOptions {
  /** Runs a function after the picture shows a change of the store. */
  readonly later: (act: () => void) => void;
  /** Shows the panel's other page. */
  readonly openDetails: () => void;
}

export function mountSource(root: HTMLElement, store: Store, options: SourceOptions): SourceView {
  const { trace } = store;
  const { later, openDetails } = options;
  const files = sourceFiles(trace);
  const counts = countOpsByLine(trace);
  let shown = files[0];
  /** The file whose lines are in the document; a long one is written when the page is shown. */
  let written: SourceFile | undefined;
  let lit = 0;

  /** Says how the file differs from the shown text; empty if nothing is known about it. */
  const note = element("div");
  const menu = element("div", { class: "pdl-menu pdl-source-menu" });
  const picker = mountSourcePicker(menu, trace, files, pick);
  const text = element("div", { class: "pdl-source pdl-source-whole pdl-scroll", role: "group" });
  text.addEventListener("click", pressLine);
  text.addEventListener("keydown", moveInGutter);
  const legend = element("div");
  root.append(
    element("div", { class: "pdl-source-head" }, menu),
    legend,
    note,
    files.length > 0 ? text : element("p", {}, t("source.none")),
  );
  menu.hidden = files.length < 2;
  render();

  const unsubscribe = store.subscribe((state, previous) => {
    if (state.selection !== previous.selection) later(follow);
  });
  if (store.state.selection.kind !== "none") follow();

  function follow(): void {
    const selection = store.selectionInGraph;
    if (selection.kind === "line") {
      light(selection.file, selection.line);
    } else if (selection.kind === "op" || selection.kind === "grad_node") {
      const op = selection.kind === "op" ? selection.op : trace.pairedOp(selection.gradNode);
      const frame = op >= 0 ? trace.ownFrameOf(op) : -1;
      if (frame < 0) clear();
      else light(trace.at("frames", "file", frame), trace.at("frames", "line", frame));
    } else {
      clear();
    }
  }

  function pick(file: SourceFile): void {
    note.replaceChildren();
    shown = file;
    lit = 0;
    render();
  }

  function clear(): void {
    lit = 0;
    mark();
  }

  function light(file: number, line: number, now?: LineNow): boolean {
    note.replaceChildren();
    const found = files.find((candidate) => candidate.file === file && holds(candidate, line));
    if (!found) {
      clear();
      return false;
    }
    lit = line;
    shown = found;
    if (now) {
      const label = fileLabel(trace, file, found.cell);
      note.append(changedNote(label, found.cell >= 0, line, now));
    }
    picker.shows(found);
    mark();
    scrollToLit();
    return true;
  }

  function render(): void {
    if (!shown) return;
    picker.shows(shown);
    written = shown;
    const { file, stretches } = shown;
    const ofLine = counts.get(file);
    const pieces = piecesOf(trace, file);
    legend.replaceChildren(pieceLegend(pieces, (line) => light(file, line)));
    text.classList.toggle("pdl-has-pieces", pieces.size > 0);
    const last = stretches.at(-1)!;
    text.style.setProperty("--pdl-digits", String(`${last.firstLine + last.lines.length}`.length));
    text.setAttribute("aria-label", t("source.of", { file: fileLabel(trace, file, shown.cell) }));
    const rows: HTMLElement[] = [];
    let next = 1;
    for (const { firstLine, lines } of stretches) {
      if (firstLine > next) rows.push(element("div", { class: "pdl-gap" }, "⋯"));
      next = firstLine + lines.length;
      const tints = lines.length > MOST_TINTED_LINES ? [] : tintPython(lines);
      lines.forEach((line, index) => {
        const number = firstLine + index;
        const made = row(number, codeText(line, tints[index] ?? []), ofLine?.get(number) ?? 0);
        if (pieces.size > 0) made.firstElementChild!.append(pieceBar(pieces, number));
        rows.push(made);
      });
    }
    text.replaceChildren(...rows);
    const firstButton = text.querySelector<HTMLElement>(".pdl-gutter > button");
    if (firstButton) firstButton.tabIndex = 0;
    mark();
  }

  function row(number: number, code: HTMLElement, count: number): HTMLElement {
    const line = codeLine(number, code, false);
    const gutter = element("span", { class: "pdl-gutter" });
    if (count > 0) {
      line.classList.add("pdl-made");
      gutter.append(
        button(formatShortCount(count), () => {}, {
          class: undefined,
          tabindex: "-1",
          "aria-label": t("source.made", { line: number, n: count }),
          title: t("source.light", { n: count }),
        }),
      );
    }
    line.prepend(gutter);
    return line;
  }

  /** Highlight the line. If it is selected, list below it the layers and ops that it made. */
  function mark(): void {
    const { selection } = store.state;
    text.querySelector(".pdl-peek")?.remove();
    for (const old of text.querySelectorAll(".pdl-lit")) {
      old.classList.remove("pdl-lit");
      old.querySelector("button")?.setAttribute("aria-pressed", "false");
    }
    const line = litLine();
    if (!line) return;
    line.classList.add("pdl-lit");
    if (selection.kind !== "line" || selection.file !== shown?.file) return;
    line.querySelector("button")?.setAttribute("aria-pressed", "true");
    line.after(peek());
  }

  function peek(): HTMLElement {
    const parts = litParts(store);
    const shown = parts
      .slice(0, MOST_PEEKED)
      .map((part) => ("op" in part ? opChip(part.op) : groupChip({ store, trace }, part.group)));
    const all = `${t("count.op", { n: litOpKeys(store).length })} …`;
    const isMore = parts.length > MOST_PEEKED || parts.some((part) => "group" in part);
    return element(
      "div",
      { class: "pdl-peek" },
      ...shown,
      isMore &&
        button(all, openDetails, { class: "pdl-chip pdl-quiet", title: t("source.list_all") }),
    );
  }

  function opChip(op: number): HTMLElement {
    return button(`${trace.opLabel(op)} #${op}`, () => jumpToOp(store, op), {
      class: `pdl-chip pdl-${trace.phaseOf(op)}`,
      title: trace.layerOf(op) || undefined,
    });
  }

  function litLine(): HTMLElement | null {
    return lit > 0 && written === shown
      ? text.querySelector<HTMLElement>(`[data-line="${lit}"]`)
      : null;
  }

  function scrollToLit(): void {
    if (root.hidden) return;
    if (written !== shown) render();
    const line = litLine() ?? text.querySelector<HTMLElement>(".pdl-made");
    if (!line || text.clientHeight === 0) return;
    // scrollIntoView() would move the notebook as well.
    const offset = line.getBoundingClientRect().top - text.getBoundingClientRect().top;
    if (offset < 0 || offset > text.clientHeight - ROOM_BELOW_PX) {
      text.scrollTop += offset - text.clientHeight / 3;
    }
  }

  function pressLine(event: MouseEvent): void {
    const line = (event.target as Element).closest<HTMLElement>(".pdl-made");
    // A user who drags over text wants to copy it.
    if (!line || !shown || getSelection()?.isCollapsed === false) return;
    const number = Number(line.dataset.line);
    const { selection } = store.state;
    const isSelected =
      selection.kind === "line" && selection.file === shown.file && selection.line === number;
    focusGutter(line.querySelector("button"));
    store.select(isSelected ? { kind: "none" } : { kind: "line", file: shown.file, line: number }, {
      reveal: !isSelected,
    });
  }

  function moveInGutter(event: KeyboardEvent): void {
    const buttons = [...text.querySelectorAll<HTMLElement>(".pdl-gutter > button")];
    const at = buttons.indexOf(event.target as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    focusGutter(buttons[to]);
  }

  function focusGutter(target: HTMLElement | null | undefined): void {
    if (!target) return;
    text.querySelector<HTMLElement>('.pdl-gutter > [tabindex="0"]')?.setAttribute("tabindex", "-1");
    target.tabIndex = 0;
    target.focus();
  }

  return {
    show: light,
    scrollToLit,
    hasOwnSource: files[0]?.kind === "user",
    dispose() {
      unsubscribe();
      picker.dispose();
    },
  };
}

function holds({ stretches }: SourceFile, line: number): boolean {
  return stretches.some(
    ({ firstLine, lines }) => line >= firstLine && line < firstLine + lines.length,
  );
}
