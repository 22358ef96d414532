/** The panel's page of a gradient: an edge of the backward graph, and what flowed along it. */
import type { Trace } from "../../model/trace.ts";
import { button, element } from "../element.ts";
import { gradientHistogram } from "../gradients/gradient_histogram.ts";
import { normText } from "../paint/norm_ink.ts";
import type { PanelContext } from "../panel/context.ts";
import { countOf, formatCount, formatShare, formatValue } from "../panel/quantities.ts";
import { type Fact, facts, gradNodeLink, heading, list, section, small } from "./parts.ts";

/** @param beside the other edges that the same line of the picture stands for */
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
    heading("Gradient", parameter >= 0 ? trace.tensorLabel(parameter) : ""),
    facts([
      end("source") >= 0 && (["from", gradNodeLink(context, end("source"))] satisfies Fact),
      end("target") >= 0 && (["to", gradNodeLink(context, end("target"))] satisfies Fact),
      ["type", typeText(trace, "grad_edges", edge)],
    ]),
    ...gradientFacts(context, Array.from(gradients.ofEdge(edge)), state.backwardCall),
    ...(beside.length ? [others(context, edge, beside)] : []),
  ];
}

/**
 * What was recorded of a gradient: figures and a histogram.
 *
 * @param rows of `grad_stats`, in the order in which they ran: one is shown
 */
export function gradientFacts(
  context: PanelContext,
  rows: readonly number[],
  backwardCall: number,
): HTMLElement[] {
  const { store, trace } = context;
  if (!rows.length) {
    return [element("p", { class: "pdl-soft" }, notRecorded(context))];
  }
  const callOf = (row: number) => trace.at("grad_stats", "backward_call", row);
  const shown = rows.findLast((row) => callOf(row) === backwardCall) ?? rows.at(-1)!;
  const call = element("div");
  const content = element("div");
  if (rows.length > 1) {
    const select = element(
      "select",
      {
        class: "pdl-button",
        "aria-label": "Which backward call's gradient",
        onchange: () => show(Number(select.value)),
      },
      ...rows.map((row, at) => {
        const text = callOf(row) >= 0 ? `backward call ${callOf(row) + 1}` : `run ${at + 1}`;
        const isSecond = rows.findIndex((other) => callOf(other) === callOf(row)) !== at;
        const label = isSecond ? `${text}, run again` : text;
        return element("option", { value: row, selected: row === shown }, label);
      }),
    );
    call.append(select);
  }
  show(shown);
  return [call, content];

  function show(row: number): void {
    content.replaceChildren(...statFacts(row));
  }

  function statFacts(row: number): HTMLElement[] {
    const count = (column: "elements" | "zeros" | "nans" | "infs") =>
      trace.at("grad_stats", column, row);
    const value = (column: "smallest" | "largest" | "mean" | "norm") =>
      store.gradients.value(column, row);
    const [nans, infs] = [count("nans"), count("infs")];
    const hasFinite = count("elements") > nans + infs;
    const shape = typeText(trace, "grad_stats", row);
    const edge = trace.at("grad_stats", "grad_edge", row);
    const isNews = edge < 0 || shape !== typeText(trace, "grad_edges", edge);
    return [
      facts([
        !!shape && isNews && ["shape", shape],
        ["norm", formatValue(value("norm")), small(nans + infs ? " of the finite values" : "")],
        [
          "min … max",
          hasFinite
            ? `${formatValue(value("smallest"))} … ${formatValue(value("largest"))}`
            : "none",
        ],
        ["mean", hasFinite ? formatValue(value("mean")) : "none"],
        ["zeros", shareText(count("zeros"), count("elements"))],
        ["NaN", warnedCount(nans, count("elements"))],
        ["Inf", warnedCount(infs, count("elements"))],
      ]),
      section(
        "Values",
        countOf(count("elements"), "element"),
        gradientHistogram(store.gradients.histogram(row), count("zeros")),
      ),
    ];
  }
}

/** "MatmulGrad → ReluGrad". */
export function gradientName(trace: Trace, edge: number): string {
  const label = (column: "source" | "target") => {
    const node = trace.at("grad_edges", column, edge);
    return node >= 0 ? trace.gradNodeLabel(node) : "?";
  };
  return `gradient ${label("source")} → ${label("target")}`;
}

/** "norm 3.2e−4" of one edge in the backward call in view; "" where it is not known. */
export function edgeNorm({ gradients, state }: PanelContext["store"], edge: number): string {
  const row = gradients.ofEdgeIn(edge, state.backwardCall);
  const norm = row >= 0 ? gradients.normOf([edge], state.backwardCall) : undefined;
  return norm ? `norm ${normText(norm)}` : "";
}

/** Shows the gradient of an edge. */
export function gradientLink({ store }: PanelContext, edge: number, label: string): HTMLElement {
  return button(label, () => store.select({ kind: "gradient", edge, beside: [] }), {
    class: "pdl-link",
    title: "Show this gradient",
  });
}

export function shareText(part: number, whole: number): string {
  const share = formatShare(part, whole);
  return part ? `${formatCount(part)}${share && ` · ${share}`}` : "0";
}

export function warnedCount(count: number, whole: number): HTMLElement | string {
  return count
    ? element("strong", { class: "pdl-warn-text" }, `✕ ${shareText(count, whole)}`)
    : "0";
}

function others(context: PanelContext, edge: number, beside: readonly number[]): HTMLElement {
  const { store, trace } = context;
  const all = [edge, ...beside];
  return section(
    "In the same line of the picture",
    countOf(beside.length, "more gradient"),
    list(
      beside.map((other) => {
        const rest = all.filter((at) => at !== other);
        const show = () => store.select({ kind: "gradient", edge: other, beside: rest });
        const norm = edgeNorm(store, other);
        return element(
          "span",
          {},
          button(gradientName(trace, other).slice("gradient ".length), show, { class: "pdl-link" }),
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
  return store.gradients.isRecorded
    ? "No gradient was seen here. None passed, or Paddle lets nobody look: at what a node of " +
        "several tensors (concat, stack), a PyLayer or a compiled program adds to others."
    : "Its values were not recorded: trace with --grads to see them.";
}
