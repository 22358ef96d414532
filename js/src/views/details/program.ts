/** The compiled programs that an op ran: op counts, inputs, and how often they ran. */

import { element } from "../../dom/element.ts";
import { type ColumnName, PROGRAM_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { formatCount } from "../../words/quantities.ts";
import type { PanelContext } from "../facts/context.ts";
import { type Fact, facts, MOST_ITEMS, section, small, tensorLink } from "../facts/facts.ts";
import { tensorsOf } from "../names/tensors.ts";

/** The section on an op's page; undefined if the op ran no compiled program. */
export function programSection(context: PanelContext, op: number): HTMLElement | undefined {
  const { trace } = context;
  const rows = trace.programsOf(op);
  if (!rows.length) return undefined;
  const parts = [...rows].flatMap((row) => {
    const program = trace.at("programs", "program", row);
    const piece = rows.length > 1 && program >= 0 ? t("pieces.program", { n: program + 1 }) : "";
    return [...(piece ? [element("h4", {}, piece)] : []), programFacts(trace, row)];
  });
  return section(t("program.title"), "", ...parts, parametersRead(context, op));
}

/** Whether this is a parameter or buffer that a compiled program of the op reads. */
export function isReadByProgram(trace: Trace, op: number, tensor: number): boolean {
  const kind = trace.tensorKind(tensor);
  return (kind === "parameter" || kind === "buffer") && trace.programsOf(op).length > 0;
}

function programFacts(trace: Trace, row: number): HTMLElement {
  const at = (column: ColumnName<"programs">): number => trace.at("programs", column, row);
  const kind = PROGRAM_KINDS[at("kind")]!;
  if (at("program") < 0) {
    return element("p", {}, t("program.none"));
  }
  const counted = (name: string, ops: number, all: number): Fact | false =>
    all > 0 && [
      name,
      t("count.op", { n: ops }),
      small(` · ${t("program.all_ops", { all: formatCount(all) })}`),
    ];
  const [run, runs] = runOf(trace, row);
  const text = (name: string, column: "feeds" | "fetches" | "place"): Fact | false => {
    const said = trace.textAt("programs", column, row);
    return said !== "" && [name, element("code", {}, said)];
  };
  return facts([
    [t("program.compiled"), t(`program.by_${kind}`)],
    counted(t("program.forward"), at("ops"), at("all_ops")),
    counted(t("program.backward"), at("backward_ops"), at("all_backward_ops")),
    [t("program.runs"), runs > 1 ? t("program.run_of", { run, runs }) : t("program.once")],
    text(t("program.feeds"), "feeds"),
    text(t("program.fetches"), "fetches"),
    text(t("program.place"), "place"),
    kind === "executor" && [t("program.parameters"), formatCount(at("parameters"))],
  ]);
}

/** The number of this run among the program's runs in this trace, and how many runs there are. */
function runOf(trace: Trace, row: number): [run: number, runs: number] {
  const programs = trace.table("programs").column("program");
  let run = 0;
  let runs = 0;
  for (let at = 0; at < programs.length; at++) {
    if (programs[at] === programs[row]) {
      runs++;
      if (at <= row) run++;
    }
  }
  return [run, runs];
}

function parametersRead(context: PanelContext, op: number): HTMLElement {
  const { trace } = context;
  const tensors = tensorsOf(trace, trace.inputsOf(op)).filter((tensor) =>
    isReadByProgram(trace, op, tensor),
  );
  const rest = tensors.length - MOST_ITEMS;
  return element(
    "div",
    {},
    tensors.length > 0 && element("h4", {}, t("program.reads", { n: tensors.length })),
    ...tensors
      .slice(0, MOST_ITEMS)
      .map((tensor) => element("div", {}, tensorLink(context, tensor))),
    rest > 0 && small(t("list.more", { n: rest })),
  );
}
