/** Asks the surrounding page to show a source line. If the page cannot, the view shows it. */

import {
  type LineNow,
  OPEN_SOURCE_EVENT,
  type OpenSourceDetail,
} from "../../model/state/open_source_event.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { speak } from "../../words/say.ts";

/** A source line in the trace. */
export interface SourceLine {
  /** String code of the file's name. */
  readonly file: number;
  /** The number of the line, from 1. */
  readonly line: number;
  /** Execution count of the notebook cell, -1 for a file. */
  readonly cell: number;
}

/**
 * Show a line in its cell or file if the page can. If that text was edited since, the panel also
 * shows the traced text and says whether the line has moved.
 *
 * @param orElse shows the line in the view, for a page that cannot
 */
export function openSource(
  from: HTMLElement,
  store: Store,
  at: SourceLine,
  orElse: () => void = () => showInPanel(store, at),
): void {
  const { trace } = store;
  const source = trace.sourceAround(at.file, at.line);
  let isTold = false;
  const event = new CustomEvent<OpenSourceDetail>(OPEN_SOURCE_EVENT, {
    bubbles: true,
    cancelable: true,
    composed: true,
    detail: {
      file: trace.text(at.file),
      line: at.line,
      cell: at.cell,
      source_text: source?.text ?? "",
      first_line: source?.firstLine ?? 1,
      tell(now) {
        isTold = true;
        // Another output of the page may have changed the language since.
        speak(trace.origin.language);
        showInPanel(store, at, now);
        if (now.state === "kept") return t("source.beside_kept");
        return now.state === "moved" ? t("source.beside_moved", { line: at.line }) : "";
      },
    },
  });
  const isTaken = !from.dispatchEvent(event);
  if (!isTaken && !isTold) orElse();
}

function showInPanel(store: Store, { file, line }: SourceLine, now?: LineNow): void {
  store.update({ panelOpen: true });
  for (const show of store.onSource) show(file, line, now);
}
