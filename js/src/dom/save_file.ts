/** Saves a file as the browser saves downloads. */

import { element } from "./element.ts";

export function saveFile(blob: Blob, title: string, extension: string, near: HTMLElement): void {
  const address = URL.createObjectURL(blob);
  const download = fileName(title, extension);
  const link = element("a", { href: address, download, hidden: true });
  near.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** "cell-4-forward.svg": only letters and digits of any script, with hyphens between them. */
export function fileName(title: string, extension: string): string {
  const name = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80);
  return `${name || "trace"}.${extension}`;
}
