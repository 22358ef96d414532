/** Builds DOM elements. Text stays text: no code of the views parses markup. */

type Child = Node | string | false | null | undefined;
type Listener = (event: never) => void;

/**
 * Creates an element. Names that begin with `on` become listeners. `class` and other names become
 * attributes (`true` → "", `false` and undefined → no attribute).
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number | boolean | undefined | Listener>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      node.addEventListener(name.slice(2), value as EventListener);
    } else if (name === "style") {
      // The policy of saved pages forbids a style attribute, but allows this.
      node.style.cssText = String(value ?? "");
    } else if (value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.filter((child): child is Node | string => !!child));
  return node;
}

/** A push button. */
export function button(
  label: string,
  onclick: () => void,
  attributes: Readonly<Record<string, string | boolean | undefined>> = {},
  note = "",
): HTMLButtonElement {
  return element(
    "button",
    { type: "button", class: "pdl-button", onclick, ...attributes },
    label,
    !!note && element("small", {}, note),
  );
}

/** A list of numbers with labels, from which the user chooses one. */
export function chooser(
  attributes: Readonly<Record<string, string>>,
  options: readonly (readonly [value: number, label: string])[],
  onChoose: (value: number) => void,
): HTMLSelectElement {
  const select = element(
    "select",
    { class: "pdl-button", ...attributes, onchange: () => onChoose(Number(select.value)) },
    ...options.map(([value, label]) => element("option", { value }, label)),
  );
  return select;
}

/** Text, with the parts between backticks in monospace. */
export function codeText(text: string): HTMLElement {
  const made = element("span");
  text.split("`").forEach((part, at) => {
    made.append(at % 2 === 1 ? element("code", {}, part) : part);
  });
  return made;
}
