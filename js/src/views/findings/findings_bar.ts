/**
 * The bar above the graph: the sentence of the most important finding, its advice, and a link to
 * its place. The other findings are shown on request. Without findings the bar is hidden.
 */

import { copyButton } from "../../dom/clipboard.ts";
import { button, element } from "../../dom/element.ts";
import type { Finding } from "../../model/graph/findings.ts";
import type { Store } from "../../model/state/store.ts";
import type { FindingsShown, ViewState } from "../../model/state/view_state.ts";
import { t } from "../../words/page.ts";
import { showFinding } from "../actions/jump.ts";
import { openSource, type SourceLine } from "../actions/open_source.ts";
import { iconButton } from "../controls.ts";
import { findingSentence, findingText, richText } from "./finding_text.ts";
import { severitySign } from "./severity_sign.ts";

/**
 * @param root the `.pdl-findings` element
 * @returns a function that removes the bar
 */
export function mountFindings(root: HTMLElement, store: Store): () => void {
  const { trace } = store;
  const { all } = store.findings;
  if (!all.length) {
    root.hidden = true;
    return () => {};
  }
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", t("findings.findings"));
  /** Keys of the findings whose advice was opened. */
  const advised = new Set<number>();
  const unsubscribe = store.subscribe((state, previous) => {
    if (state.finding !== previous.finding || state.findingsShown !== previous.findingsShown) {
      render(state, previous.findingsShown);
    }
  });
  root.addEventListener("keydown", press);
  render(store.state, store.state.findingsShown);

  function render(state: ViewState, before: FindingsShown): void {
    const hadFocus = root.contains(document.activeElement);
    const mark = (document.activeElement as HTMLElement | null)?.dataset?.focus;
    const { finding } = store;
    root.dataset.shown = state.findingsShown;
    root.replaceChildren(
      ...(state.findingsShown === "count" || !finding
        ? [countRow()]
        : [sentence(finding, state.findingsShown === "all")]),
      ...(state.findingsShown === "all" ? [list(state.finding)] : []),
    );
    if (!hadFocus) return;
    const successor = mark && root.querySelector<HTMLElement>(`[data-focus="${mark}"]`);
    const first = before === "count" ? ".pdl-finding .pdl-button" : ".pdl-button";
    (successor || root.querySelector<HTMLElement>(first))?.focus({ preventScroll: true });
  }

  /** The sentence of one finding, with its advice. */
  function sentence(finding: Finding, isListed: boolean): HTMLElement {
    const isAdvised = advised.has(finding.key);
    const advice = element(
      "div",
      { class: "pdl-finding-advice" },
      element("strong", {}, `${t("findings.what_to_do")} `),
      richText(trace, finding.advice, open),
    );
    const row = element(
      "div",
      {
        class: isAdvised ? "pdl-finding pdl-advised" : "pdl-finding",
        "data-severity": finding.severity,
        "data-kind": finding.kind,
      },
      severitySign(finding.severity, true),
      element(
        "div",
        { class: "pdl-finding-text" },
        element("p", {}, findingSentence(trace, finding, open)),
        !!finding.advice && advice,
      ),
      element(
        "div",
        { class: "pdl-finding-actions" },
        isShowable(finding) &&
          button(t("findings.show_in_graph"), () => showFinding(store, finding), {
            title: t("findings.show_title"),
            "aria-keyshortcuts": "e",
            "data-focus": "show",
          }),
        !!finding.advice &&
          button(t("findings.what_to_do"), () => advise(finding), {
            class: "pdl-button pdl-finding-more",
            "aria-expanded": String(isAdvised),
            "data-focus": "advice",
          }),
        copyButton(t("clipboard.copy"), () => findingText(trace, finding)),
        all.length > 1 &&
          button(
            isListed ? t("findings.fewer") : t("findings.more", { n: all.length - 1 }),
            () => store.update({ findingsShown: isListed ? "one" : "all" }),
            {
              "aria-expanded": String(isListed),
              title: isListed ? t("findings.close_list") : t("findings.list_all"),
              "data-focus": "list",
            },
          ),
        iconButton("×", t("findings.fold"), () => store.update({ findingsShown: "count" }), {
          class: "pdl-button pdl-quiet pdl-icon",
          "data-focus": "fold",
        }),
      ),
    );
    return row;
  }

  function advise(finding: Finding): void {
    if (!advised.delete(finding.key)) advised.add(finding.key);
    render(store.state, store.state.findingsShown);
  }

  /** "✕ 1 error ▲ 2 warnings": the row that remains when the findings are folded. */
  function countRow(): HTMLElement {
    return element(
      "button",
      {
        type: "button",
        class: "pdl-button pdl-finding-counts",
        onclick: () => store.update({ findingsShown: "one" }),
        title: t("findings.show"),
        "aria-expanded": "false",
        "data-focus": "fold",
      },
      ...store.findings
        .counts()
        .flatMap(({ severity, count }) => [
          severitySign(severity, false),
          ` ${t(`findings.count_${severity}`, { n: count })} `,
        ]),
    );
  }

  function list(current: number): HTMLElement {
    return element(
      "ul",
      { class: "pdl-finding-list pdl-scroll", "aria-label": t("findings.all") },
      ...all.map((finding) => item(finding, finding.key === current)),
    );
  }

  function item(finding: Finding, isCurrent: boolean): HTMLElement {
    return element(
      "li",
      {
        "aria-current": isCurrent ? "true" : undefined,
        "data-kind": finding.kind,
        "data-severity": finding.severity,
      },
      severitySign(finding.severity, false),
      element("span", { class: "pdl-finding-text" }, findingSentence(trace, finding, open)),
      button(
        isShowable(finding) ? t("banner.show") : t("findings.read"),
        () => showFinding(store, finding),
        {
          class: "pdl-button pdl-finding-show",
          "data-focus": `show-${finding.key}`,
          "aria-label": t("findings.show_of", { message: finding.message }),
        },
      ),
    );
  }

  function press(event: KeyboardEvent): void {
    if (event.key === "Escape" && store.state.findingsShown === "all") {
      store.update({ findingsShown: "one" });
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const shows = [...root.querySelectorAll<HTMLElement>(".pdl-finding-show")];
      const at = shows.indexOf(document.activeElement as HTMLElement);
      const to = shows[event.key === "ArrowDown" ? at + 1 : at - 1];
      if (!shows.length) return;
      to?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function open(at: SourceLine): void {
    openSource(root, store, at, () => {
      store.update({ panelOpen: true });
      store.select({ kind: "line", file: at.file, line: at.line });
    });
  }

  return () => {
    unsubscribe();
    root.removeEventListener("keydown", press);
    root.replaceChildren();
  };
}

function isShowable({ op, gradNode }: Finding): boolean {
  return op >= 0 || gradNode >= 0;
}
