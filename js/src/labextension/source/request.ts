import {
  type LineNow,
  OPEN_SOURCE_EVENT,
  type OpenSourceDetail,
} from "../../model/state/open_source_event.ts";

export { OPEN_SOURCE_EVENT };

/** A request to show a source line, with as many details as are known. */
export type OpenSourceRequest = Pick<OpenSourceDetail, "file" | "line"> &
  Partial<Pick<OpenSourceDetail, "cell" | "source_text" | "first_line">> & {
    /** The id of the cell. Unlike the execution count, it survives a restart. */
    readonly cell_id?: string;
    /** Reports the state of the line to the sender. Returns the text to show next to the line. */
    readonly tell?: (now: LineNow) => string;
  };

/** Reads a request from an event; `null` if there is none. The event is not trusted. */
export function readRequest(event: Event): OpenSourceRequest | null {
  if (!(event instanceof CustomEvent)) return null;
  const detail: unknown = event.detail;
  if (typeof detail !== "object" || detail === null) return null;
  const { file, line, cell, cell_id, source_text, first_line, tell } = detail as Record<
    string,
    unknown
  >;
  if (typeof file !== "string" || typeof line !== "number" || !(line >= 1)) return null;
  return {
    file,
    line: Math.floor(line),
    ...(typeof cell === "number" && cell >= 0 ? { cell } : {}),
    ...(typeof cell_id === "string" && cell_id !== "" ? { cell_id } : {}),
    ...(typeof source_text === "string" && source_text !== "" ? { source_text } : {}),
    ...(typeof first_line === "number" && first_line >= 1
      ? { first_line: Math.floor(first_line) }
      : {}),
    ...(typeof tell === "function" ? { tell: (now: LineNow) => String(tell(now) ?? "") } : {}),
  };
}
