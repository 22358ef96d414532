/** The panel's page of Paddle's log: entries folded under the op or grad node that wrote them. */

import { button, element } from "../../dom/element.ts";
import { type LogBlock, type LogOwner, logBlocks } from "../../model/log/log_blocks.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import type { PanelContext } from "../facts/context.ts";
import { gradNodeLink, opLink, small } from "../facts/facts.ts";

/** The largest number of blocks that are shown. A search reduces the number of blocks. */
const MOST_BLOCKS = 300;
/** More entries of one block are not shown. */
const MOST_ENTRIES = 300;

export function hasLog(trace: Trace): boolean {
  return trace.table("log").length > 0;
}

/** @returns a function that shows the entries of the current selection */
export function mountLog(root: HTMLElement, context: PanelContext): () => void {
  const { store, trace } = context;
  let showsAll = false;
  const found = element("div", { class: "pdl-log", role: "list" });
  const note = element("p", { class: "pdl-soft", role: "status" });
  const search = element("input", {
    type: "search",
    class: "pdl-search-input",
    placeholder: t("log.search"),
    "aria-label": t("log.search"),
    oninput: render,
    onkeydown: (event: KeyboardEvent) => event.stopPropagation(),
  });
  const all = button(t("log.all"), () => {
    showsAll = true;
    render();
  });
  root.append(element("div", { class: "pdl-log-head" }, search, all), note, found);

  function render(): void {
    const owner = showsAll ? undefined : ownerOf(context);
    const blocks = logBlocks(trace, owner, search.value);
    const count = blocks.reduce((sum, block) => sum + block.entries.length, 0);
    all.hidden = !owner;
    const isPart = owner || search.value.trim();
    const total = trace.table("log").length;
    note.textContent = isPart ? t("log.part", { n: count, total }) : t("log.count", { n: count });
    const isOpen = owner !== undefined || blocks.length <= 2;
    found.replaceChildren(
      ...blocks.slice(0, MOST_BLOCKS).map((block) => blockElement(context, block, isOpen)),
    );
    const rest = blocks.slice(MOST_BLOCKS);
    if (rest.length > 0) {
      const n = rest.reduce((sum, block) => sum + block.entries.length, 0);
      found.append(element("p", { class: "pdl-soft" }, t("log.more", { n })));
    }
  }

  const unsubscribe = store.subscribe((state, previous) => {
    if (state.selection !== previous.selection) showsAll = false;
  });
  root.addEventListener("pdl-dispose", unsubscribe, { once: true });
  return render;
}

function ownerOf({ store }: PanelContext): LogOwner {
  const { selection } = store.state;
  if (selection.kind === "op") return { kind: "op", op: selection.op };
  if (selection.kind === "grad_node") return { kind: "grad_node", gradNode: selection.gradNode };
  return undefined;
}

function blockElement(context: PanelContext, block: LogBlock, isOpen: boolean): HTMLElement {
  const { trace } = context;
  const { op, gradNode, entries } = block;
  const rows = () => {
    const shown = entries.slice(0, MOST_ENTRIES).map((entry) => entryElement(trace, entry));
    const n = entries.length - shown.length;
    return n > 0 ? [...shown, element("p", { class: "pdl-soft" }, t("log.more", { n }))] : shown;
  };
  if (op < 0 && gradNode < 0) {
    return element("div", { class: "pdl-log-block", role: "listitem" }, ...rows());
  }
  const name =
    gradNode >= 0 ? trace.textAt("grad_nodes", "name", gradNode) : `${trace.opLabel(op)} #${op}`;
  const fill = () => {
    if (folded.childElementCount > 1) return;
    const link = gradNode >= 0 ? gradNodeLink(context, gradNode) : opLink(context, op);
    const isSelected = ownerOf(context)?.kind === (gradNode >= 0 ? "grad_node" : "op");
    folded.append(element("div", { class: "pdl-log-inside" }, !isSelected && link, ...rows()));
  };
  const folded = element(
    "details",
    { class: "pdl-log-block", role: "listitem", ontoggle: fill },
    element(
      "summary",
      { class: "pdl-log-summary" },
      name,
      small(` · ${t("log.count", { n: entries.length })}`),
    ),
  );
  if (isOpen) {
    folded.open = true;
    fill();
  }
  return folded;
}

function entryElement(trace: Trace, entry: number): HTMLElement {
  const severity = trace.textAt("log", "severity", entry);
  const file = trace.textAt("log", "source_file", entry);
  const place = `${file}:${trace.at("log", "source_line", entry)}`;
  // Paddle writes a line of equals signs above and below its headings.
  const text = trace.textAt("log", "text", entry).replace(/={4,}/g, "").trim();
  return element(
    "div",
    { class: severity === "I" || !severity ? "pdl-log-entry" : "pdl-log-entry pdl-warn-text" },
    small(severity && severity !== "I" ? `${severity} ${place}` : place),
    element("pre", {}, text),
  );
}
