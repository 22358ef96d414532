/** The findings about the selected op or grad node. */

import { element } from "../../dom/element.ts";
import type { Mark } from "../../model/graph/findings.ts";
import { openSource } from "../actions/open_source.ts";
import type { PanelContext } from "../facts/context.ts";
import { richText } from "../findings/finding_text.ts";
import { severitySign } from "../findings/severity_sign.ts";
import { marksOfBox, roleWord } from "../scene/box_marks.ts";

/** A note for each finding that points at the op, or at the grad node if `op` is -1. */
export function findingNotes(context: PanelContext, op: number, gradNode: number): HTMLElement[] {
  const box = { op, gradNode, group: -1, tensor: -1, kind: "op", id: "" } as const;
  const told = new Map<number, Mark>();
  for (const mark of marksOfBox(context.store, box, undefined, true)) {
    if (!told.has(mark.finding.key)) told.set(mark.finding.key, mark);
  }
  return [...told.values()].map(({ finding, role }) => {
    const note = element(
      "div",
      { class: "pdl-finding-note", "data-severity": finding.severity },
      element(
        "div",
        { class: "pdl-finding-head" },
        severitySign(finding.severity, true),
        roleWord(role),
      ),
      element(
        "p",
        {},
        richText(context.trace, finding.message, (at) => openSource(note, context.store, at)),
      ),
    );
    return note;
  });
}
