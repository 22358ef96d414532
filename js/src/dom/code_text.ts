import { element } from "./element.ts";

/** Text with what stands between backticks in monospace. */
export function codeText(text: string): HTMLElement {
  const made = element("span");
  text.split("`").forEach((part, at) => {
    made.append(at % 2 === 1 ? element("code", {}, part) : part);
  });
  return made;
}
