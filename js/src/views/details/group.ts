/** The panel's page of a group: a layer's call, a region, a PyLayer, a backward call. */

import { button, element } from "../../dom/element.ts";
import { durationOf, parametersOf } from "../../model/graph/trace_totals.ts";
import { foldAround, isFolded } from "../../model/state/folding.ts";
import { groupsOfScopes, scopesOfCalls } from "../../model/time/places.ts";
import { t } from "../../words/page.ts";
import { formatBytes } from "../../words/quantities.ts";
import { openOne } from "../actions/opening.ts";
import type { PanelContext } from "../facts/context.ts";
import { type Fact, facts, groupChip, heading, timeFact } from "../facts/facts.ts";
import { fileLabel } from "../names/stack_order.ts";
import { renderStack } from "../source/stack.ts";
import { memoryFact } from "./memory.ts";

export function groupDetails(context: PanelContext, group: number): HTMLElement[] {
  const { store, trace, totals } = context;
  // The group is selected, so the highlighted ops are its ops.
  const lit = store.litOps();
  const isInside = (op: number) => lit[op] === 1;
  const [groupOf, scopeOf] = [groupsOfScopes(trace, true), scopesOfCalls(trace)];
  const isCallInside = (call: number) =>
    trace.groupPath(groupOf[scopeOf[call]!] ?? -1).includes(group);
  const parameters = parametersOf(trace, isInside);
  const className = trace.textAt("groups", "class", group);
  const calls = callsOf(context, group);
  const isOpen = store.state.open.has(group);
  const parent = trace.at("groups", "parent", group);
  const fold = foldAround(store.hierarchy, store.state, group);
  const isFold = isFolded(store.hierarchy, store.state, group);
  const openOrClose = () =>
    isOpen && !isFold ? store.setOpen(group, false) : openOne(store, group);
  return [
    heading(trace.groupName(group), className),
    element(
      "div",
      { class: "pdl-chips" },
      element("span", { class: "pdl-chip" }, t(`group_kind.${trace.groupKind(group)}`)),
      parent >= 0 && groupChip(context, parent),
    ),
    ...builtLikeSiblings(context, group),
    facts([
      calls.length > 1 && [
        t("group.call"),
        t("group.call_of", { n: calls.indexOf(group) + 1, all: calls.length }),
        ...otherCalls(context, calls, group),
      ],
      ...loopFacts(context, group),
      [t("group.ops"), t("count.op", { n: trace.at("groups", "op_count", group) })],
      parameters.count > 0 && [
        t("group.parameters"),
        `${t("count.tensor", { n: parameters.count })} · ${formatBytes(parameters.bytes)}`,
      ],
      timeFact(totals, durationOf(trace, isInside, isCallInside)),
      memoryFact(store),
    ]),
    element(
      "div",
      { class: "pdl-actions" },
      button(isOpen && !isFold ? t("group.close") : t("group.open"), openOrClose, {
        "data-focus": "open",
      }),
      isFold &&
        button(t("group.show_all", { n: fold.length }), () => store.setUnfolded(group, true)),
    ),
    ...stackOfFirstOp(context, group),
  ];
}

/** The value of an iteration's loop variable, and the line of its loop. */
function loopFacts({ trace, showSource }: PanelContext, group: number): (Fact | false)[] {
  const turns = trace.table("turns");
  const scope = trace.at("groups", "scope", group);
  const turn = trace.groupKind(group) === "turn" ? turns.column("scope").indexOf(scope) : -1;
  if (turn < 0) return [];
  const loop = trace.at("turns", "loop", turn);
  const [file, line] = [trace.at("loops", "file", loop), trace.at("loops", "line", loop)];
  const value = trace.textAt("groups", "value", group);
  return [
    value !== "" && [t("group.value"), value],
    [
      t("group.loop"),
      button(
        t("place.file_line", {
          file: fileLabel(trace, file, trace.at("loops", "cell", loop)),
          line,
        }),
        () => showSource(file, line),
        { class: "pdl-link" },
      ),
    ],
  ];
}

/** A sentence if a group differs from its siblings, or if siblings differ from it. */
function builtLikeSiblings({ store }: PanelContext, group: number): HTMLElement[] {
  const { oddSiblings } = store;
  const family = oddSiblings.familyOf(group);
  const sentence = oddSiblings.sentence(group) || oddSiblings.alikeSentence(group);
  if (!sentence) return [];
  const told = [element("p", {}, sentence)];
  if (family) told.push(element("p", {}, t("siblings.alike_are", { n: family.alike })));
  if (family && family.typical >= 0) {
    const show = () => store.select({ kind: "group", group: family.typical }, { reveal: true });
    told.push(element("div", { class: "pdl-actions" }, button(t("group.show_one"), show)));
  }
  return told;
}

function otherCalls(context: PanelContext, calls: readonly number[], group: number): HTMLElement[] {
  const at = calls.indexOf(group);
  const step = (label: string, to: number | undefined) =>
    to === undefined
      ? []
      : [
          button(
            label,
            () => context.store.select({ kind: "group", group: to }, { reveal: true }),
            {
              class: "pdl-button pdl-quiet",
            },
          ),
        ];
  return [...step(t("group.previous"), calls[at - 1]), ...step(t("group.next"), calls[at + 1])];
}

/** All groups that are calls of the same layer, in order. */
function callsOf({ trace }: PanelContext, group: number): number[] {
  const scope = trace.table("groups").column("scope");
  const layer = trace.table("scopes").column("layer");
  const own = scope[group]! >= 0 ? layer[scope[group]!]! : -1;
  if (own < 0) return [group];
  return [...scope.keys()].filter((other) => layer[scope[other]!] === own);
}

/** The stack of a group's first op. A group has no stack of its own. */
function stackOfFirstOp(context: PanelContext, group: number): HTMLElement[] {
  const { trace } = context;
  const first = trace.at("groups", "first_op", group);
  if (first < 0) return [];
  return [
    renderStack(context, trace.stackOf(first), t("group.stack", { op: trace.opLabel(first) })),
  ];
}
