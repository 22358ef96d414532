/** What went wrong, or is missing, above the picture. */
import type { Store } from "../model/store.ts";
import { t } from "../words/page.ts";
import { button, element } from "./element.ts";

/**
 * @param root the `.pdl-banner` element; it stays empty where there is nothing to say
 * @returns what takes the banner down
 */
export function mountBanner(root: HTMLElement, store: Store): () => void {
  const { trace } = store;
  const { exception, notices } = trace.origin;
  const calls = Array.from({ length: trace.table("backward_calls").length }, (_, call) => ({
    call,
    error: trace.textAt("backward_calls", "error", call),
  }));
  const failed = calls.find(({ error }) => error !== "");
  if (failed) {
    root.append(
      errorRow(
        store.findings.tellsOfFailure ? "" : t("banner.backward_failed"),
        failed.error,
        button(
          t("banner.show"),
          () => store.update({ mode: "ladder", backwardCall: failed.call }),
          {
            title: t("banner.show_call"),
          },
        ),
      ),
    );
  }
  // An exception that came out of a backward call is that call's error once more.
  if (exception && !(failed && sameError(exception, failed.error))) {
    const op = raisedOp(store);
    root.append(
      errorRow(
        t("banner.stopped_by"),
        exception,
        op >= 0 &&
          button(t("banner.show"), () => store.select({ kind: "op", op }, { reveal: true }), {
            title: t("banner.show_op"),
          }),
      ),
    );
  }
  if (notices.length > 0) root.append(noticesRow(notices));
  return () => root.replaceChildren();
}

/**
 * The first line, the rest on request: Paddle's messages run over many lines.
 *
 * @param title "" where a finding has told it already: the message is only kept at hand
 */
function errorRow(title: string, message: string, action: HTMLElement | false): HTMLElement {
  const lines = message.trim().split("\n");
  const summary = summaryLine(lines);
  const text = element("code", { class: "pdl-one-line", title: summary }, summary);
  const more = button(
    t("banner.more"),
    () => {
      const isOpen = text.classList.toggle("pdl-one-line");
      more.setAttribute("aria-expanded", String(!isOpen));
      more.textContent = isOpen ? t("banner.more") : t("banner.less");
      text.textContent = isOpen ? summary : message.trim();
    },
    { "aria-expanded": "false" },
  );
  return element(
    "div",
    { class: title ? "pdl-banner-row pdl-warn" : "pdl-banner-row pdl-quiet-row", role: "note" },
    element("strong", {}, title || t("banner.paddles_message")),
    text,
    !!title && action,
    (lines.length > 1 || summary.length > 120) && more,
  );
}

function noticesRow(notices: readonly string[]): HTMLElement {
  if (notices.length === 1) {
    return element(
      "div",
      { class: "pdl-banner-row", role: "note" },
      element("span", {}, notices[0]!),
    );
  }
  return element(
    "div",
    { class: "pdl-banner-row", role: "note" },
    element(
      "details",
      {},
      element("summary", {}, t("banner.notices", { n: notices.length, first: notices[0]! })),
      element("ul", {}, ...notices.slice(1).map((notice) => element("li", {}, notice))),
    ),
  );
}

/** The line that says it: Paddle puts a table of C++ frames around "InvalidArgumentError: …". */
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

function raisedOp({ trace }: Store): number {
  return trace.table("ops").column("raised").lastIndexOf(1);
}
