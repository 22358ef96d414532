/** The panel's page of a gradient: an edge of the backward graph, and what flowed along it. */

import { button, chooser, element } from "../../../dom/element.ts";
import { histogramOf } from "../../../model/gradients/histogram.ts";
import type { Trace } from "../../../trace/trace.ts";
import { t } from "../../../words/page.ts";
import type { PanelContext } from "../../facts/context.ts";
import {
  type Fact,
  facts,
  gradNodeLink,
  heading,
  list,
  section,
  small,
} from "../../facts/facts.ts";
import { normText } from "../../paint/norm_ink.ts";
import { histogram } from "./histogram.ts";
import { countFacts, statistics } from "./statistics.ts";

/** @param beside the other edges that are drawn as the same line */
export function gradientDetails(
  context: PanelContext,
  edge: number,
  beside: readonly number[],
): HTMLElement[] {
  const { store, trace } = context;
  const { gradients, state } = store;
  const end = (column: "source" | "target") => trace.at("grad_edges", column, edge);
  const parameter = end("target") >= 0 ? trace.at("grad_nodes", "parameter", end("target")) : -1;
  return [
    heading(t("gradient.title"), parameter >= 0 ? trace.tensorLabel(parameter) : ""),
    facts([
      end("source") >= 0 &&
        ([t("gradient.from"), gradNodeLink(context, end("source"))] satisfies Fact),
      end("target") >= 0 &&
        ([t("gradient.to"), gradNodeLink(context, end("target"))] satisfies Fact),
      [t("gradient.type"), typeText(trace, "grad_edges", edge)],
    ]),
    ...gradientFacts(context, Array.from(gradients.ofEdge(edge)), state.backwardCall),
    ...(beside.length ? [others(context, edge, beside)] : []),
  ];
}

/**
 * The recorded figures and histogram of a gradient.
 *
 * @param rows of `grad_stats`, in execution order; one of them is shown
 */
export function gradientFacts(
  context: PanelContext,
  rows: readonly number[],
  backwardCall: number,
): HTMLElement[] {
  const { trace } = context;
  if (!rows.length) {
    return [element("p", { class: "pdl-soft" }, notRecorded(context))];
  }
  const callOf = (row: number) => trace.at("grad_stats", "backward_call", row);
  const shown = rows.findLast((row) => callOf(row) === backwardCall) ?? rows.at(-1)!;
  const call = element("div");
  const content = element("div");
  if (rows.length > 1) {
    const select = chooser(
      { "aria-label": t("gradient.which") },
      rows.map((row, at) => {
        const text =
          callOf(row) >= 0
            ? t("gradient.call", { n: callOf(row) + 1 })
            : t("gradient.run", { n: at + 1 });
        const isSecond = rows.findIndex((other) => callOf(other) === callOf(row)) !== at;
        return [row, isSecond ? t("gradient.again", { run: text }) : text];
      }),
      show,
    );
    select.value = String(shown);
    call.append(select);
  }
  show(shown);
  return [call, content];

  function show(row: number): void {
    content.replaceChildren(...statFacts(row));
  }

  function statFacts(row: number): HTMLElement[] {
    const stats = statistics(trace, "grad_stats", row);
    const isBroken = stats.count("nans") + stats.count("infs") > 0;
    const shape = typeText(trace, "grad_stats", row);
    const edge = trace.at("grad_stats", "grad_edge", row);
    const isNews = edge < 0 || shape !== typeText(trace, "grad_edges", edge);
    return [
      facts([
        !!shape && isNews && [t("gradient.shape"), shape],
        [
          t("gradient.norm"),
          stats.value("norm"),
          small(isBroken ? ` ${t("gradient.finite")}` : ""),
        ],
        [t("gradient.range"), stats.hasFinite ? stats.range : t("gradient.none")],
        [t("gradient.mean"), stats.hasFinite ? stats.value("mean") : t("gradient.none")],
        ...countFacts(stats),
      ]),
      section(
        t("gradient.values"),
        t("count.element", { n: stats.count("elements") }),
        histogram({ bins: histogramOf(trace, "grad", row), zeros: stats.count("zeros") }),
      ),
    ];
  }
}

/** "gradient MatmulGrad → ReluGrad". */
export function gradientName(trace: Trace, edge: number): string {
  return t("gradient.labelled", { label: gradientEnds(trace, edge) });
}

function gradientEnds(trace: Trace, edge: number): string {
  const label = (column: "source" | "target") => {
    const node = trace.at("grad_edges", column, edge);
    return node >= 0 ? trace.gradNodeLabel(node) : "?";
  };
  return `${label("source")} → ${label("target")}`;
}

/** "norm 3.2e−4" of one edge in the shown backward call; "" if the norm is not known. */
export function edgeNorm({ gradients, state }: PanelContext["store"], edge: number): string {
  const row = gradients.ofEdgeIn(edge, state.backwardCall);
  const norm = row >= 0 ? gradients.normOf([edge], state.backwardCall) : undefined;
  return norm ? t("gradient.norm_of", { norm: normText(norm) }) : "";
}

/** A link that shows the gradient of an edge. */
export function gradientLink({ store }: PanelContext, edge: number, label: string): HTMLElement {
  return button(label, () => store.select({ kind: "gradient", edge, beside: [] }), {
    class: "pdl-link",
    title: t("gradient.show"),
  });
}

function others(context: PanelContext, edge: number, beside: readonly number[]): HTMLElement {
  const { store, trace } = context;
  const all = [edge, ...beside];
  return section(
    t("gradient.same_line"),
    t("gradient.more", { n: beside.length }),
    list(
      beside.map((other) => {
        const rest = all.filter((at) => at !== other);
        const show = () => store.select({ kind: "gradient", edge: other, beside: rest });
        const norm = edgeNorm(store, other);
        return element(
          "span",
          {},
          button(gradientEnds(trace, other), show, { class: "pdl-link" }),
          small(
            [` ${trace.textAt("grad_edges", "shape", other)}`, norm].filter(Boolean).join(" · "),
          ),
        );
      }),
    ),
  );
}

function typeText(trace: Trace, table: "grad_edges" | "grad_stats", row: number): string {
  return `${trace.textAt(table, "dtype", row)} ${trace.textAt(table, "shape", row)}`.trim();
}

function notRecorded({ store }: PanelContext): string {
  return store.gradients.isRecorded ? t("gradient.not_seen") : t("gradient.not_recorded");
}
