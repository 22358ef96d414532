/** A details page as plain text for an issue or a chat: one line for each entry. */
import { t } from "../../words/page.ts";

export function detailsText(page: HTMLElement): string {
  const parts = page.querySelectorAll(
    "h2, .pdl-chips, dd, h3, li, .pdl-slowest tr, .pdl-frame-head",
  );
  return Array.from(parts, (part) => {
    const text = words(part);
    if (part.tagName === "DD") {
      return t("text.fact", { name: part.previousElementSibling?.textContent ?? "", value: text });
    }
    if (part.tagName === "H3") return t("text.title", { title: text });
    const isItem = part.tagName === "LI" || part.tagName === "TR";
    return isItem ? `- ${text}` : text;
  }).join("\n");
}

/** Text of an element, with a space between its parts; its copy buttons are left out. */
function words(part: Element): string {
  return Array.from(part.childNodes, (child) =>
    child instanceof Element && child.matches(".pdl-button") ? "" : (child.textContent ?? ""),
  )
    .map((text) => text.trim())
    .filter(Boolean)
    .join(" ");
}
