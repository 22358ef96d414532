/** The note above a source whose cell or file has changed since the trace. */

import { button, element } from "../../dom/element.ts";
import type { LineNow } from "../../model/state/open_source_event.ts";
import { t } from "../../words/page.ts";

/**
 * @param label "Cell 4" or "model.py"
 * @param line as it was traced, from 1
 */
export function changedNote(
  label: string,
  isCell: boolean,
  line: number,
  now: LineNow,
): HTMLElement {
  const what = isCell ? "cell" : "file";
  const note = element("div", { class: "pdl-source-changed", role: "status" });
  if (now.state === "missing") {
    note.append(element("strong", {}, t(`source.missing_${what}`, { place: label })));
  } else {
    const place = now.state === "gone" ? t("source.line_gone", { line }) : whereNow(line, now.line);
    note.append(
      element("strong", {}, t(`source.changed_${what}`, { place: label })),
      " ",
      element("span", {}, place),
    );
  }
  note.append(" ", element("span", {}, t(`source.as_it_was_${what}`)));
  if (now.state === "gone") {
    note.append(" ", button(t(`source.show_${what}`), now.show, { class: "pdl-link" }));
  }
  return note;
}

function whereNow(line: number, now: number): string {
  return line === now ? t("source.line_kept", { line }) : t("source.line_moved", { line, now });
}
