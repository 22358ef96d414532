/** The panel's page of a grad node. */

import { copyButton } from "../../dom/clipboard.ts";
import { button, element } from "../../dom/element.ts";
import { comparisonOf } from "../../model/graph/comparison.ts";
import { t } from "../../words/page.ts";
import { jumpToOp } from "../actions/jump.ts";
import type { PanelContext } from "../facts/context.ts";
import {
  type Fact,
  facts,
  gradNodeLink,
  groupChips,
  heading,
  list,
  opLink,
  section,
  small,
  tensorLink,
} from "../facts/facts.ts";
import { differenceText } from "../names/difference.ts";
import { renderStack } from "../source/stack.ts";
import { findingNotes } from "./findings.ts";
import { kernelFacts } from "./kernels.ts";
import { memoryFact } from "./memory.ts";
import { computedGradients } from "./numbers/computed_value.ts";
import { edgeNorm, gradientFacts, gradientLink } from "./numbers/gradient.ts";

export function gradNodeDetails(context: PanelContext, gradNode: number): HTMLElement[] {
  const { store, trace } = context;
  const op = trace.pairedOp(gradNode);
  const maker = trace.at("grad_nodes", "op", gradNode);
  const parameter = trace.at("grad_nodes", "parameter", gradNode);
  const address = `0x${trace.at("grad_nodes", "address", gradNode).toString(16)}`;
  const hasAddress = address !== "0x0";
  const next = trace.gradEdgesFrom(gradNode);
  const from = trace.gradEdgesInto(gradNode);
  const comparison = comparisonOf(trace);
  return [
    heading(trace.textAt("grad_nodes", "name", gradNode), t("grad_node.number", { n: gradNode })),
    element(
      "div",
      { class: "pdl-chips" },
      op >= 0 &&
        button(`↔ ${trace.opLabel(op)} #${op}`, () => jumpToOp(store, op), {
          class: "pdl-chip pdl-forward",
          title: t(maker === op ? "grad_node.show_op" : "grad_node.show_pair"),
        }),
      op < 0 &&
        element(
          "span",
          { class: "pdl-chip" },
          parameter >= 0 ? t("grad_node.leaf") : t("grad_node.no_op"),
        ),
      ...groupChips(context, trace.groupOfGradNode(gradNode)),
    ),
    ...findingNotes(context, -1, gradNode),
    facts([
      !!comparison && [
        t("difference.title"),
        differenceText(comparison.kindsOfGradNodes[gradNode]!),
      ],
      maker !== op && [
        t("grad_node.made_by"),
        opLink(context, maker),
        small(` · ${t("grad_node.in_backward")}`),
      ],
      parameter >= 0 &&
        ([t("grad_node.accumulates"), tensorLink(context, parameter)] satisfies Fact),
      // A stored copy may have no addresses: see paddle_lab/views/reduction.
      hasAddress && [
        t("block.address"),
        element("code", {}, address),
        copyButton(t("clipboard.copy"), () => address),
      ],
      ...kernelFacts(trace, "grad_node", gradNode),
      memoryFact(store),
    ]),
    ...computedGradients(context, gradNode),
    edges(context, t("grad_node.receives"), from, "source", t("grad_node.root")),
    edges(context, t("grad_node.hands"), next, "target", t("grad_node.ends")),
    ...beganWith(context, gradNode),
    ...(op >= 0 ? [renderStack(context, trace.stackOf(op), t("grad_node.forward_stack"))] : []),
  ];
}

/** The gradient with which a backward call started at this node. */
function beganWith(context: PanelContext, gradNode: number): HTMLElement[] {
  const { gradients, state } = context.store;
  const rows = Array.from(gradients.beganAt(gradNode));
  return rows.length
    ? [section(t("grad_node.began"), "", ...gradientFacts(context, rows, state.backwardCall))]
    : [];
}

function edges(
  context: PanelContext,
  title: string,
  rows: Int32Array,
  end: "source" | "target",
  none: string,
): HTMLElement {
  const { trace } = context;
  if (rows.length === 0) return section(title, none);
  return section(
    title,
    "",
    list(
      [...rows].map((row) => {
        const dtype = trace.textAt("grad_edges", "dtype", row);
        const shape = trace.textAt("grad_edges", "shape", row);
        return element(
          "span",
          {},
          gradNodeLink(context, trace.at("grad_edges", end, row)),
          small(` ${dtype} ${shape} `),
          gradientLink(context, row, edgeNorm(context.store, row) || t("gradient.gradient")),
        );
      }),
    ),
  );
}
