/** A finding's sentence as nodes, with monospace code and links to places; also as plain text. */

import { button, element } from "../../dom/element.ts";
import type { Finding } from "../../model/graph/findings.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import type { SourceLine } from "../actions/open_source.ts";
import { baseName } from "../names/file_names.ts";
import { fileLabel } from "../names/stack_order.ts";

/** Places as Python writes them in sentences: "cell 4, line 8", "单元格 4 第 8 行", "model.py:31". */
const PLACES = /cell (\d+), line (\d+)|单元格 (\d+) 第 (\d+) 行|([\w.+-]+\.\w+):(\d+)/giu;

export type OpenLine = (at: SourceLine) => void;

/** The sentence. If it does not name the finding's own line, a link to that line follows. */
export function findingSentence(trace: Trace, finding: Finding, open: OpenLine): HTMLElement {
  const sentence = richText(trace, finding.message, open);
  const isNamed = Array.from(sentence.querySelectorAll<HTMLElement>("[data-line]")).some(
    ({ dataset }) => dataset.line === String(finding.line),
  );
  if (finding.line > 0 && !isNamed) {
    sentence.append(" ", placeLink(placeText(trace, finding), finding, open));
  }
  return sentence;
}

/** Text with `code` in monospace and its places as links. */
export function richText(trace: Trace, text: string, open: OpenLine): HTMLElement {
  const made = element("span");
  // Parts with odd numbers were between backticks. Without a closing backtick, the last part is plain text.
  const parts = text.split("`");
  parts.forEach((part, at) => {
    if (at % 2 === 1 && at < parts.length - 1) {
      made.append(element("code", {}, part));
    } else {
      made.append(...withLinks(trace, at % 2 === 1 ? `\`${part}` : part, open));
    }
  });
  return made;
}

/** "Cell 4, line 8". */
function placeText(trace: Trace, { file, line, cell }: SourceLine): string {
  return t("place.file_line", { file: fileLabel(trace, file, cell), line });
}

/** A finding as plain text for an issue or a chat: severity, sentence, place, advice. */
export function findingText(trace: Trace, finding: Finding): string {
  const severity = t(`severity.${finding.severity}`);
  const line = placeText(trace, finding);
  const file = trace.text(finding.file);
  const place = finding.cell >= 0 ? line : t("findings.place_in", { place: line, file });
  return [
    t("findings.text", { severity, kind: finding.kind, message: finding.message }),
    finding.line > 0 ? t("findings.text_place", { place }) : "",
    finding.advice ? t("findings.text_advice", { advice: finding.advice }) : "",
  ]
    .filter(Boolean)
    .join("\n");
}

function withLinks(trace: Trace, text: string, open: OpenLine): (Node | string)[] {
  const made: (Node | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACES)) {
    const at = resolved(trace, match);
    if (at) {
      // Keep a link and its parentheses on one line.
      const openAt = match.index - (/[(（]/.test(text[match.index - 1] ?? "") ? 1 : 0);
      const close = match.index + match[0].length;
      const closeAt = close + (/[)）]/.test(text[close] ?? "") ? 1 : 0);
      made.push(
        text.slice(end, openAt),
        element(
          "span",
          { class: "pdl-place" },
          text.slice(openAt, match.index),
          placeLink(match[0], at, open),
          text.slice(close, closeAt),
        ),
      );
      end = closeAt;
    }
  }
  made.push(text.slice(end));
  return made;
}

/** The line that a sentence names, if the trace has that file or cell. */
function resolved(trace: Trace, match: RegExpMatchArray): SourceLine | undefined {
  const cell = Number(match[1] ?? match[3] ?? -1);
  const line = Number(match[2] ?? match[4] ?? match[6]);
  const name = match[5];
  const frames = trace.table("frames");
  for (let frame = 0; frame < frames.length; frame++) {
    const at = (column: "file" | "cell"): number => frames.column(column)[frame]!;
    const isIt =
      name === undefined
        ? at("cell") === cell
        : at("cell") < 0 && baseName(trace.text(at("file"))) === name;
    if (isIt) {
      return { file: at("file"), line, cell: at("cell") };
    }
  }
  return undefined;
}

function placeLink(label: string, at: SourceLine, open: OpenLine): HTMLElement {
  return button(label, () => open(at), {
    class: "pdl-link",
    title: t("place.show_line"),
    "data-line": String(at.line),
  });
}
