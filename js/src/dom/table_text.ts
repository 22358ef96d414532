/** Tables as text for spreadsheets: for a file, and for the clipboard. */

export type Cell = string | number;

/** Text that a spreadsheet would run as a formula. A trace may come from another person. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Comma-separated values (RFC 4180). A formula gets an apostrophe, as in
 * `interchange/memory_csv.py`.
 */
export function csvOf(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(quoted).join(",")}\n`).join("");
}

/** Text with tabs between columns, which spreadsheets split into cells. */
export function tabbedOf(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(plain).join("\t")}\n`).join("");
}

function quoted(cell: Cell): string {
  const text = disarmed(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function plain(cell: Cell): string {
  return disarmed(cell).replace(/[\t\r\n]+/g, " ");
}

function disarmed(cell: Cell): string {
  return typeof cell === "string" && FORMULA.test(cell) ? `'${cell}` : String(cell);
}
