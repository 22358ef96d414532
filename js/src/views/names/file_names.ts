/** Distinct names of files: each has as many of its folders as it needs to be unique. */
import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";

/** "model.py" of "/home/me/model.py" and of "C:\\me\\model.py". */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/**
 * Return, for each path, the shortest end that no other path has.
 *
 * @param paths without duplicates
 */
export function distinctNames(paths: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  let unnamed = paths.map((path) => ({ path, parts: path.split(/[/\\]/) }));
  for (let length = 1; unnamed.length > 0; length++) {
    const ends = new Map<string, typeof unnamed>();
    for (const one of unnamed) {
      const end = one.parts.slice(-length).join("/");
      ends.set(end, [...(ends.get(end) ?? []), one]);
    }
    unnamed = [];
    for (const [end, sharing] of ends) {
      const isLast = sharing.every(({ parts }) => parts.length <= length);
      if (sharing.length === 1 || isLast) for (const { path } of sharing) names.set(path, end);
      else unnamed.push(...sharing);
    }
  }
  return names;
}

/**
 * The name of a file of the trace. It differs from the names of all other files in the trace's
 * frames. "" for none.
 */
export function fileName(trace: Trace, file: number): string {
  const names = kept(trace, "file names", () => {
    const frames = trace.table("frames");
    const [file, cell] = trace.columns("frames", "file", "cell");
    const codes = new Set<number>();
    for (let frame = 0; frame < frames.length; frame++) {
      if (cell[frame]! < 0) codes.add(file[frame]!);
    }
    return distinctNames(Array.from(codes, (code) => trace.text(code)));
  });
  const path = trace.text(file);
  return names.get(path) ?? baseName(path);
}
