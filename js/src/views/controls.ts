/** Controls that several parts of the view use. */
import { button, element } from "../dom/element.ts";

/** A button with a sign instead of a word. */
export function iconButton(
  sign: string,
  title: string,
  act: () => void,
  attributes: Readonly<Record<string, string>> = {},
): HTMLButtonElement {
  const given = { class: "pdl-button pdl-icon", title, "aria-label": title, ...attributes };
  return button(sign, act, given);
}

export interface Segments<Name> {
  readonly element: HTMLElement;
  /** Show one of the buttons as pressed. */
  press(name: Name): void;
}

/**
 * A row of buttons; one of them is pressed.
 *
 * @param attribute the attribute that holds each button's name
 */
export function segments<Name extends string>(
  label: string,
  attribute: `data-${string}`,
  options: readonly { name: Name; label: string; title?: string }[],
  pick: (name: Name) => void,
): Segments<Name> {
  const buttons = options.map(({ name, label: text, title }) =>
    button(text, () => pick(name), { class: undefined, title, [attribute]: name }),
  );
  return {
    element: element(
      "div",
      { class: "pdl-segments", role: "group", "aria-label": label },
      ...buttons,
    ),
    press(name) {
      for (const one of buttons) {
        one.setAttribute("aria-pressed", String(one.getAttribute(attribute) === name));
      }
    },
  };
}
