/** What people read comes from the tables in `paddle_lab/words/`: the source holds no sentence or label of its own. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAst } from "vitest/node";

const SOURCE = join(import.meta.dirname, "../../src");

/** Said to nobody, or in English by rule; each says why. */
const ALLOWED: Readonly<Record<string, RegExp>> = {
  // JupyterLab's list of plugins, which is English for all of them.
  "labextension/index.ts": /^Shows the /,
  // Caught where they are thrown for: the page then goes another way.
  // Caught, and told to a developer's console.
  "labextension/source/open_file.ts": /is no text\.$/,
  // A fault that `damaged` is the cause of, for a developer's console.
  "trace/unpack.ts": /^(?:header longer|strings are|a number of|a column|… and … differ) /,
  "trace/references.ts": /^… points /,
  "trace/packed_column.ts": /^unknown column type$/,
  // As Python itself prints a traceback.
  "views/names/stack_order.ts": /^Traceback \(|^Cell …$|^File "…"$|^ {2}…, line /,
  // Shapes of the legend's samples, and what they look like.
  "views/keyboard/help.ts":
    /^(?:box|sign|under|inner|chip|octagon|triangle|disc|stub|cut|ring|line) /,
};

/** Two words beside each other, or a word beside a value. */
const SENTENCE = /[A-Za-z]{2,}[,;:.]? [A-Za-z]{2,}|[A-Za-z]{2,} …|… [a-z]{2,}/;
/** Not words: classes, selectors, media, styles, fonts, markup, a module, keys of what is open. */
const CODE =
  /^[.#]?pdl-|^input[, ]|^\(prefers-|^[\w-]+:\S|px(?: |$)|var\(|sans-serif|^<svg|^…\n;export|^(?:group|op|members|holders|grad_node|paired) …/;
/** The same in every language: programs, Paddle's own words, units. */
const NAMES = /\b(?:NaN|Inf|Paddle|Python|PyLayer|stop_gradient|create_graph|ns|ms)\b/g;
/** Calls whose texts no page shows: a developer's console, and keys: of the table, of what is kept. */
const UNSHOWN_CALLS = new Set(["warn", "error", "t", "querySelector", "querySelectorAll", "kept"]);
/** What a page shows when it is set, or given to a maker of elements. */
const SHOWN_NAMES = new Set(["textContent", "innerText", "title", "placeholder", "alt"]);
const MAKERS = new Set(["element", "svgElement", "button", "createTextNode", "fillText"]);

type Node = { readonly type: string; readonly start: number } & Record<string, unknown>;

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

/** A text as it stands in the source, with "…" for its values; undefined for what is none. */
function textOf(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral") return undefined;
  const quasis = node.quasis as { value: { cooked: string } }[];
  return quasis.map(({ value }) => value.cooked).join("…");
}

/** Whether a text is compared, or is a key, here or on its way to the call that takes one. */
function isKey(node: Node, parent: Node | undefined): boolean {
  if (!parent) return false;
  if (parent.type === "BinaryExpression") return parent.operator !== "+";
  if (parent.type === "Property") return parent.key === node;
  if (parent.type === "TSLiteralType") return true;
  return parent.type === "CallExpression" && UNSHOWN_CALLS.has(nameOf(parent.callee));
}

function nameOf(node: unknown): string {
  if (!isNode(node)) return "";
  if (node.type === "MemberExpression") return nameOf(node.property);
  return String(node.name ?? node.value ?? "");
}

/** Whether a page shows the text at `node`, however short it is: a label, a tooltip. */
function isShown(node: Node, parents: readonly Node[]): boolean {
  const parent = parents.at(-1);
  if (!parent) return false;
  if (parent.type === "ConditionalExpression" || parent.type === "LogicalExpression") {
    return parent.test !== node && isShown(parent, parents.slice(0, -1));
  }
  if (parent.type === "AssignmentExpression") {
    return parent.right === node && SHOWN_NAMES.has(nameOf(parent.left));
  }
  if (parent.type === "Property" && parent.value === node) {
    const name = nameOf(parent.key);
    return SHOWN_NAMES.has(name) || /^aria-(?:label|valuetext|description)$/.test(name);
  }
  if (parent.type === "CallExpression") {
    const name = nameOf(parent.callee);
    const at = (parent.arguments as unknown[]).indexOf(node);
    return MAKERS.has(name) && (name.endsWith("lement") ? at > 1 : at === 0);
  }
  return false;
}

interface Found {
  readonly line: number;
  readonly text: string;
}

/** The texts of a source that a page shows, or may show, and that are none of the table's. */
function untranslated(source: string): Found[] {
  const found: Found[] = [];
  const walk = (node: Node, parents: readonly Node[]): void => {
    const text = textOf(node);
    const words = text?.replaceAll(NAMES, "") ?? "";
    const isWords = (SENTENCE.test(words) && !CODE.test(words)) || isShown(node, parents);
    if (/[a-z]{2,}/i.test(words) && isWords && !isKey(node, parents.at(-1))) {
      found.push({ line: source.slice(0, node.start).split("\n").length, text: text! });
    }
    if (node.type === "ImportDeclaration") return;
    for (const child of Object.values(node).flat()) {
      if (isNode(child)) walk(child, [...parents, node]);
    }
  };
  walk(parseAst(source, { lang: "ts" }) as unknown as Node, []);
  return found;
}

test("no sentence and no label stands in the source, and no allowance without a use", () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));
  expect(sources.length).toBeGreaterThan(100);
  const unused = new Set(Object.keys(ALLOWED));
  const faults = sources.flatMap((file) =>
    untranslated(readFileSync(join(SOURCE, file), "utf8")).flatMap(({ line, text }) => {
      const isAllowed = ALLOWED[file]?.test(text);
      if (isAllowed) unused.delete(file);
      return isAllowed ? [] : `${file}:${line}: ${text}`;
    }),
  );
  expect(faults).toEqual([]);
  expect([...unused]).toEqual([]);
});

test.each([
  'throw new Error("this browser cannot do it");',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a source.
  "const note = `${count} more rows`;",
  'element("span", {}, "norm");',
  'button("Fit", fit);',
  'toggle.title = isOpen ? "Close" : t("open");',
  'element("div", { "aria-label": "Graph" });',
  't("status.line", { what: "of the loop" });',
])("such a text is seen: %s", (source) => {
  expect(untranslated(source)).toHaveLength(1);
});

test.each([
  'element("div", { class: "pdl-row pdl-lit" }, t("toolbar.help"));',
  'console.warn("Paddle Lab could not load it", error);',
  'if (kind === "peak allocated") draw();',
  'element("dd", {}, "NaN");',
])("and what is none is let pass: %s", (source) => {
  expect(untranslated(source)).toEqual([]);
});
