/** The panel's page of an op. */

import { element } from "../../dom/element.ts";
import { threadsOf } from "../../model/time/spans.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { language } from "../../words/say.ts";
import type { PanelContext } from "../facts/context.ts";
import {
  type Fact,
  facts,
  gradNodeChip,
  groupChips,
  heading,
  opLink,
  small,
  tensorLink,
  timeFact,
} from "../facts/facts.ts";
import { renderStack } from "../source/stack.ts";
import { differenceSection } from "./difference.ts";
import { findingNotes } from "./findings.ts";
import { kernelFacts } from "./kernels.ts";
import { memoryFact } from "./memory.ts";
import { computedValues } from "./numbers/computed_value.ts";
import { valueLine } from "./numbers/values.ts";
import { isReadByProgram, programSection } from "./program.ts";

export function opDetails(context: PanelContext, op: number): HTMLElement[] {
  const { trace, totals } = context;
  return [
    heading(trace.opLabel(op), `#${op}`),
    chips(context, op),
    ...findingNotes(context, op, -1),
    differenceSection(context, op),
    facts([
      ...tensorFacts(context, op, "in", otherInputs(context, op)),
      ...tensorFacts(context, op, "out", trace.outputsOf(op)),
      attributesFact(trace, op),
      timeFact(totals, trace.at("ops", "duration_ns", op)),
      ...kernelFacts(trace, "op", op),
      memoryFact(context.store),
      threadsOf(trace).length > 1 && [t("op.thread"), String(trace.at("ops", "thread", op))],
    ]),
    ...computedValues(context, op),
    programSection(context, op),
    renderStack(context, trace.stackOf(op)),
  ].filter((part) => part !== undefined);
}

/**
 * The inputs of an op. The parameters and buffers of a compiled program are left out, because the
 * program lists them.
 */
function otherInputs({ trace }: PanelContext, op: number): Int32Array {
  return trace
    .inputsOf(op)
    .filter((use) => !isReadByProgram(trace, op, trace.at("uses", "tensor", use)));
}

function chips(context: PanelContext, op: number): HTMLElement {
  const { trace } = context;
  const phase = trace.phaseOf(op);
  return element(
    "div",
    { class: "pdl-chips" },
    element("span", { class: `pdl-chip pdl-${phase}` }, t(`phase.${phase}`)),
    trace.at("ops", "is_pylayer", op) === 1 && element("span", { class: "pdl-chip" }, "PyLayer"),
    trace.at("ops", "raised", op) === 1 &&
      element("span", { class: "pdl-chip pdl-warn" }, t("op.raised")),
    ...groupChips(context, trace.groupOfOp(op)),
    ...[...trace.gradNodesOfOp(op)].map((gradNode) => gradNodeChip(context, gradNode)),
  );
}

function tensorFacts(
  context: PanelContext,
  op: number,
  word: "in" | "out",
  uses: Int32Array,
): Fact[] {
  const { trace } = context;
  return [...uses].map((use): Fact => {
    const tensor = trace.at("uses", "tensor", use);
    const slot = uses.length > 1 ? ` ${trace.at("uses", "slot", use)}` : "";
    const name = `${t(`op.${word}`)}${slot}`;
    if (tensor < 0) return [name, small(t("gradient.none"))];
    const producer = word === "in" ? trace.at("tensors", "producer", tensor) : -1;
    return [
      name,
      tensorLink(context, tensor),
      ...(producer >= 0 ? [small(` · ${t("op.from")} `), opLink(context, producer)] : []),
      versionNote(context, op, tensor, word === "out"),
      valueLine(context, tensor),
    ];
  });
}

/** A note if this op modified the tensor in place, or if another op modifies it later. */
function versionNote(
  context: PanelContext,
  op: number,
  tensor: number,
  isOutput: boolean,
): HTMLElement | "" {
  const { trace, totals } = context;
  const [from, to] = isOutput
    ? [trace.at("tensors", "previous", tensor), tensor]
    : [tensor, totals.nextVersion[tensor]!];
  if (from < 0 || to < 0) return "";
  const modifier = trace.at("tensors", "producer", to);
  // A PyLayer may return a tensor that an op inside it made. Then the PyLayer's output is only
  // another name of that tensor.
  const isNameOnly =
    modifier >= 0 &&
    trace.at("ops", "is_pylayer", modifier) === 1 &&
    trace.at("tensors", "version", from) === trace.at("tensors", "version", to);
  if (isNameOnly) return "";
  // The note on the op's output already says this.
  if (!isOutput && modifier === op) return "";
  const by = isOutput || modifier < 0 ? [] : [t("op.by"), " ", opLink(context, modifier), " "];
  if (modifier >= 0 && trace.phaseOf(modifier) === "optimizer") {
    return element("div", { class: "pdl-soft" }, ...sentence(t("op.updated"), by));
  }
  const [before, after] = [from, to].map((at) => trace.at("tensors", "version", at));
  const text =
    before === after ? t("op.in_place") : t("op.versions", { before: before!, after: after! });
  return element("div", { class: "pdl-warn-text" }, ...sentence(text, by));
}

/** "modified in place by add_ #3"; in Chinese the op comes first. */
function sentence(text: string, by: readonly (Node | string)[]): (Node | string)[] {
  return language() === "zh" ? [...by, text] : [text, by.length ? " " : "", ...by];
}

/** An op's arguments that are not tensors: `strides=[2, 2]`; default values are dimmed. */
function attributesFact(trace: Trace, op: number): Fact | undefined {
  const parts = attributesOf(trace, op);
  if (parts.length === 0) return undefined;
  return [
    t("op.attributes"),
    element(
      "div",
      { class: "pdl-attributes" },
      // Spaces separate the arguments in copied text too.
      ...parts.flatMap(({ text, isDefault }) => [
        isDefault
          ? element("code", { class: "pdl-soft", title: t("op.default") }, text)
          : element("code", {}, text),
        " ",
      ]),
    ),
  ];
}

interface Attribute {
  /** `strides=[2, 2]`, or only the value if Paddle does not give the name. */
  readonly text: string;
  readonly isDefault: boolean;
}

export function attributesOf(trace: Trace, op: number): Attribute[] {
  const defaults = defaultsOf(trace, op);
  return splitAttributes(trace.textAt("ops", "attributes", op)).map((text) => {
    const [name, value] = [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)];
    const known = defaults.get(name);
    return { text, isDefault: known !== undefined && isSame(value, known) };
  });
}

function defaultsOf(trace: Trace, op: number): Map<string, string> {
  const [ops, names, values] = trace.columns("attribute_defaults", "op", "name", "value");
  const own = trace.at("ops", "name", op);
  const rows = [...ops.keys()].filter((row) => ops[row] === own);
  return new Map(rows.map((row) => [trace.text(names[row]!), trace.text(values[row]!)]));
}

/** Compare two values: Python's `None` and 1 equal C++'s empty list and 1.0. */
function isSame(value: string, known: string): boolean {
  if (value === known || (value === "None" && known === "[]")) return true;
  return value !== "" && known !== "" && Number(value) === Number(known);
}

/** Splits at the commas outside of brackets and strings. */
export function splitAttributes(text: string): string[] {
  const parts: string[] = [];
  let [start, depth, quote] = [0, 0, ""];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (quote) {
      if (character === "\\") at += 1;
      else if (character === quote) quote = "";
    } else if (character === "'" || character === '"') quote = character;
    else if ("[(<{".includes(character)) depth += 1;
    else if ("])>}".includes(character)) depth -= 1;
    else if (character === "," && depth === 0) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...parts, text.slice(start).trim()].filter((part) => part !== "");
}
