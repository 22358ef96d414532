/** The banner above the picture: errors and notices. */

import { button, codeText, element } from "../dom/element.ts";
import type { Store } from "../model/state/store.ts";
import { t } from "../words/page.ts";
import { openSource } from "./actions/open_source.ts";
import { baseName } from "./names/file_names.ts";

/**
 * @param root the `.pdl-banner` element, which stays empty without an error or notice
 * @param isPage whether the view is a whole page, without a traceback beside the view
 * @param more notices about this view, shown before the trace's notices
 * @returns a function that removes the banner
 */
export function mountBanner(
  root: HTMLElement,
  store: Store,
  isPage: boolean,
  more: readonly string[] = [],
): () => void {
  const { trace, findings } = store;
  const { exception } = trace.origin;
  // A comparison also tells its first difference as a finding.
  const isFound = (notice: string): boolean =>
    findings.all.some(({ message, advice }) => message === notice || advice.includes(notice));
  const notices = [...more, ...trace.origin.notices].filter((notice) => !isFound(notice));
  const calls = Array.from({ length: trace.table("backward_calls").length }, (_, call) => ({
    call,
    error: trace.textAt("backward_calls", "error", call),
  }));
  const failed = calls.find(({ error }) => error !== "");
  const showCall = (call: number): HTMLElement =>
    button(t("banner.show"), () => store.update({ mode: "ladder", backwardCall: call }), {
      title: t("banner.show_call"),
    });
  // An exception raised by a backward call repeats the error of that call.
  const isOfBackward = !!failed && !!exception && sameError(exception, failed.error);
  const isTold = findings.tellsOfFailure;
  if (failed && !isOfBackward) {
    root.append(
      errorRow({
        title: isTold ? t("banner.paddles_message") : t("banner.backward_failed"),
        message: failed.error,
        isQuiet: isTold,
        isFolded: false,
        action: !isTold && showCall(failed.call),
      }),
    );
  }
  if (exception) {
    const op = trace.table("ops").column("raised").lastIndexOf(1);
    const isQuiet = isOfBackward && isTold;
    const showOp = (): HTMLElement =>
      button(t("banner.show"), () => store.select({ kind: "op", op }, { reveal: true }), {
        title: t("banner.show_op"),
      });
    root.append(
      errorRow({
        title: isOfBackward && !isTold ? t("banner.backward_failed") : t("banner.stopped_by"),
        place: stoppedAt(root, store),
        message: exception,
        isQuiet,
        isFolded: !isPage || isQuiet,
        action: isOfBackward ? !isTold && showCall(failed.call) : op >= 0 && showOp(),
      }),
    );
  }
  if (notices.length > 0) root.append(noticesRow(notices));
  return () => root.replaceChildren();
}

interface ErrorRow {
  readonly title: string;
  /** The name of the error, and the line that raised it. */
  readonly place?: HTMLElement;
  readonly message: string;
  /** Whether a finding already reports the error. */
  readonly isQuiet: boolean;
  /** Whether the message is also shown elsewhere. Then it is folded here. */
  readonly isFolded: boolean;
  readonly action: HTMLElement | false;
}

/** One line of the error; a button shows the rest, since Paddle's messages have many lines. */
function errorRow({ title, place, message, isQuiet, isFolded, action }: ErrorRow): HTMLElement {
  const lines = message.trim().split("\n");
  const summary = summaryLine(lines);
  const brief = isFolded ? "" : summary;
  const text = element("code", { class: "pdl-one-line", title: summary }, brief);
  const more = button(
    t("banner.more"),
    () => {
      const isOpen = text.classList.toggle("pdl-one-line");
      more.setAttribute("aria-expanded", String(!isOpen));
      more.textContent = isOpen ? t("banner.more") : t("banner.less");
      text.textContent = isOpen ? brief : message.trim();
    },
    { "aria-expanded": "false", title: t("banner.message") },
  );
  return element(
    "div",
    { class: `pdl-banner-row ${isQuiet ? "pdl-quiet-row" : "pdl-warn"}`, role: "note" },
    element("strong", {}, title),
    !!place && place,
    text,
    action,
    (isFolded || lines.length > 1 || summary.length > 120) && more,
  );
}

/** "ValueError · Cell 3, line 5"; the place is a link if the trace has its file. */
function stoppedAt(root: HTMLElement, store: Store): HTMLElement {
  const { trace } = store;
  const { exception, stopped_file, stopped_line, stopped_cell } = trace.origin;
  const made = element("span", { class: "pdl-banner-place" });
  made.append(element("code", {}, exception.match(/^[\w.]+/)?.[0] ?? ""));
  if (stopped_line <= 0) return made;
  const files = trace.table("frames").column("file");
  const file = files.find((code) => trace.text(code) === stopped_file);
  const at = { file: file ?? -1, line: stopped_line, cell: stopped_cell };
  const name = stopped_cell >= 0 ? t("place.cell", { cell: stopped_cell }) : baseName(stopped_file);
  const label = t("place.file_line", { file: name, line: stopped_line });
  const open = (): void =>
    openSource(root, store, at, () => {
      store.update({ panelOpen: true });
      store.select({ kind: "line", file: at.file, line: at.line });
    });
  const link = button(label, open, {
    class: "pdl-link",
    title: t("place.show_line"),
    "data-line": String(stopped_line),
  });
  made.append(" · ", file === undefined ? label : link);
  return made;
}

function noticesRow(notices: readonly string[]): HTMLElement {
  if (notices.length === 1) {
    return element("div", { class: "pdl-banner-row", role: "note" }, codeText(notices[0]!));
  }
  return element(
    "div",
    { class: "pdl-banner-row", role: "note" },
    element(
      "details",
      {},
      element(
        "summary",
        {},
        codeText(t("banner.notices", { n: notices.length, first: notices[0]! })),
      ),
      element("ul", {}, ...notices.slice(1).map((notice) => element("li", {}, codeText(notice)))),
    ),
  );
}

/** The line with the error: Paddle puts a table of C++ frames around "InvalidArgumentError: …". */
export function summaryLine(lines: readonly string[]): string {
  const filled = lines.map((line) => line.trim()).filter((line) => /\w/.test(line));
  const telling = filled.findLast((line) =>
    /^(\(\w+\) )?(\w+\.)*\w*(Error|Exception|Interrupt)\b.*\S/.test(line),
  );
  return telling ?? filled[0] ?? "";
}

function sameError(exception: string, error: string): boolean {
  return exception.includes(error.trim()) || error.includes(exception.replace(/^\w+: /, "").trim());
}
