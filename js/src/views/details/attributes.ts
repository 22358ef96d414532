/** An op's arguments that are not tensors: `strides=[2, 2]`; default values are dimmed. */

import { element } from "../../dom/element.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import type { Fact } from "../facts/facts.ts";

export function attributesFact(trace: Trace, op: number): Fact | undefined {
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

export interface Attribute {
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
