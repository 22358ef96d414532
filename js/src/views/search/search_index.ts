/**
 * Finds ops by the words that people type. There are fewer distinct strings than ops, so a word is
 * searched in the strings first. Then an op matches if one of its strings matches.
 */
import { opsThroughFrames } from "../../model/state/pairing.ts";
import type { Trace } from "../../trace/trace.ts";
import { eachUse } from "../../trace/uses.ts";
import { baseName } from "../names/file_names.ts";
import { RootedPaths } from "../names/rooted_paths.ts";
import { almostFilter, type Filter, filterOf, type Problem } from "./filters/filter.ts";
import { flags, opsOfFilter, withValues } from "./filters/filter_ops.ts";

/** One word of a query, parsed. */
export type SearchTerm = (
  | { kind: "text"; text: string }
  | { kind: "key"; op: number }
  | { kind: "line"; file: string; line: number }
  | { kind: "cell"; cell: number; line: number }
  | { kind: "filter"; filter: Filter; word: string }
  | { kind: "problem"; problem: Problem }
) & {
  /** Whether the op must not match. */
  isNot?: true;
};

/** The results of a query: keys of ops in execution order, or the reason why there are none. */
export interface Answer {
  readonly matches: number[];
  readonly problem?: Problem;
}

const WORDS =
  /-?(?:shape:)?\[[^\]]*\]?|-?[<>]=?\s*[\d.]+\s*(?:ns|us|µs|μs|ms|s)(?!\S)|-?\bcell\s*(\d+)(?:\s*(?::|,?\s*line)\s*(\d+))?|\S+/g;

/**
 * Split a query into words; an op must match each of them: `relu`, `fc1 float16`, `[4, 2, 3]`,
 * `model.py:12`, `cell 4`, `cell 4:12`, `#12`, `dtype:float16`, `>1ms`. A minus sign before a word
 * negates it.
 */
export function parseQuery(query: string): SearchTerm[] {
  return [...query.toLowerCase().matchAll(WORDS)].map(([whole, cell, cellLine]): SearchTerm => {
    // A number below zero is searched as text.
    const isNot = /^-[\p{L}_[<>#]/u.test(whole);
    const term = termOf(isNot ? whole.slice(1) : whole, cell, cellLine);
    return isNot ? { ...term, isNot } : term;
  });
}

function termOf(word: string, cell: string | undefined, cellLine: string | undefined): SearchTerm {
  if (cell !== undefined) return { kind: "cell", cell: +cell, line: +(cellLine ?? 0) };
  if (/^#\d+$/.test(word)) return { kind: "key", op: +word.slice(1) };
  const filter = filterOf(word);
  if (filter) {
    return "word" in filter
      ? { kind: "problem", problem: filter }
      : { kind: "filter", filter, word };
  }
  const [, file, line] = /^(.+):(\d+)$/.exec(word) ?? [];
  if (file !== undefined) return { kind: "line", file, line: +line! };
  return { kind: "text", text: word.startsWith("[") ? word.replace(/\s/g, "") : word };
}

export class SearchIndex {
  /**
   * The trace's strings in lower case. Shapes have no spaces. A string is "" if it cannot be
   * searched for.
   */
  readonly #strings: string[];
  /** Base names of files in lower case, by position in `strings`. */
  readonly #files = new Map<number, string>();
  readonly #rooted: RootedPaths;

  constructor(readonly trace: Trace) {
    this.#rooted = new RootedPaths(trace);
    const count = trace.strings.length;
    this.#strings = new Array<string>(count).fill("");
    // Test each string once, however many rows contain it.
    const isFound = new Uint8Array(count);
    const tensors = trace.table("tensors");
    for (const column of [
      trace.table("ops").column("name"),
      trace.table("grad_nodes").column("name"),
      trace.table("groups").column("path"),
      trace.table("groups").column("class"),
      tensors.column("name"),
      tensors.column("path"),
      tensors.column("dtype"),
    ]) {
      markCodes(isFound, column);
    }
    const isShape = markCodes(new Uint8Array(count), tensors.column("shape"));
    for (let code = 0; code < count; code++) {
      if (isFound[code]) {
        this.#strings[code] = trace.text(code).toLowerCase();
      } else if (isShape[code]) {
        this.#strings[code] = trace.text(code).replace(/\s/g, "").toLowerCase();
      }
    }
    for (const code of trace.table("frames").column("file")) {
      if (!this.#files.has(code)) this.#files.set(code, baseName(trace.text(code)).toLowerCase());
    }
  }

  /** Keys of the matching ops in execution order; none for an empty query. */
  find(query: string): number[] {
    return this.ask(query).matches;
  }

  /** The results of a query; if it has a wrong filter, the problem of the first one. */
  ask(query: string): Answer {
    const terms = parseQuery(query);
    if (terms.length === 0) return { matches: [] };
    const isMatch = new Uint8Array(this.trace.opCount).fill(1);
    for (const term of terms) {
      const ops = this.#opsOfTerm(term);
      if (!(ops instanceof Uint8Array)) return { matches: [], problem: ops };
      const wanted = term.isNot ? 0 : 1;
      for (let op = 0; op < isMatch.length; op++) isMatch[op]! &= ops[op] ? wanted : 1 - wanted;
    }
    const matches: number[] = [];
    for (let op = 0; op < isMatch.length; op++) if (isMatch[op]) matches.push(op);
    return { matches };
  }

  #opsOfTerm(term: SearchTerm): Uint8Array | Problem {
    switch (term.kind) {
      case "text": {
        const ops = this.#opsOfText(term.text);
        return (!ops.includes(1) && almostFilter(term.text)) || ops;
      }
      case "filter":
        return opsOfFilter(this.trace, term.filter, term.word);
      case "problem":
        return withValues(this.trace, term.problem);
      case "key": {
        const fit = new Uint8Array(this.trace.opCount);
        if (term.op < fit.length) fit[term.op] = 1;
        return fit;
      }
      case "line":
        return this.#opsOfFrames(
          (file, _cell, line) => line === term.line && this.#files.get(file)!.includes(term.file),
        );
      case "cell":
        return this.#opsOfFrames(
          (_file, cell, line) => cell === term.cell && (term.line === 0 || line === term.line),
        );
    }
  }

  #opsOfText(text: string): Uint8Array {
    const trace = this.trace;
    const fit = new Uint8Array(trace.opCount);
    const isHit = flags(this.#strings, (candidate) => candidate.includes(text));
    const name = trace.table("ops").column("name");
    const file = trace.table("frames").column("file");
    const hits = new Set<number>();
    for (const [code, base] of this.#files) if (base.includes(text)) hits.add(code);
    const isFileHit = hits.size ? flags(file, (code) => hits.has(code)) : undefined;
    const stack = trace.table("ops").column("stack");
    const ownFrame = trace.table("stack_frames").column("frame");
    const group = trace.table("op_groups").column("group");
    const isGroupHit = this.#groupHits(isHit, text);
    for (let op = 0; op < fit.length; op++) {
      const frame = isFileHit && stack[op]! >= 0 ? ownFrame[stack[op]!]! : -1;
      fit[op] =
        isHit[name[op]!]! |
        (group[op]! >= 0 ? isGroupHit[group[op]!]! : 0) |
        (frame >= 0 ? isFileHit![frame]! : 0);
    }
    this.#addTensorHits(fit, isHit, text);
    const [gradNodeName, address] = trace.columns("grad_nodes", "name", "address");
    const pointer = /^0x[\da-f]+$/.test(text) ? Number.parseInt(text, 16) : -1;
    const opOfNode = trace.pairedOps;
    for (let node = 0; node < opOfNode.length; node++) {
      const isPointers = address[node] === pointer ? 1 : 0;
      if (opOfNode[node]! >= 0) fit[opOfNode[node]!]! |= isHit[gradNodeName[node]!]! | isPointers;
    }
    return fit;
  }

  /** A group matches by its own strings, or by the strings of a group that contains it. */
  #groupHits(isHit: Uint8Array, text: string): Uint8Array {
    const [path, className, parent] = this.trace.columns("groups", "path", "class", "parent");
    const hits = this.#rooted.groups(text, this.#strings);
    for (let group = 0; group < hits.length; group++) {
      const around = parent[group]!;
      hits[group]! |=
        isHit[path[group]!]! | isHit[className[group]!]! | (around >= 0 ? hits[around]! : 0);
    }
    return hits;
  }

  /**
   * Paddle's own names ("conv2d_0.w_0_moment1_0") must match as a whole. They contain the name of
   * an op, and a search for that op would otherwise find everything that the optimizer does.
   */
  #addTensorHits(fit: Uint8Array, isHit: Uint8Array, text: string): void {
    const tensors = this.trace.table("tensors");
    const columns = this.trace.columns("tensors", "path", "dtype", "shape");
    const name = tensors.column("name");
    const isName = flags(this.#strings, (candidate) => candidate === text);
    const isTensorHit = this.#rooted.tensors(text, this.#strings);
    for (let tensor = 0; tensor < isTensorHit.length; tensor++) {
      isTensorHit[tensor]! |= isName[name[tensor]!]!;
    }
    for (const column of columns) {
      for (let tensor = 0; tensor < isTensorHit.length; tensor++) {
        isTensorHit[tensor]! |= isHit[column[tensor]!]!;
      }
    }
    eachUse(this.trace, (op, tensor) => {
      fit[op]! |= isTensorHit[tensor]!;
    });
  }

  /** Ops whose stack passes through a matching frame. */
  #opsOfFrames(fits: (file: number, cell: number, line: number) => boolean): Uint8Array {
    const trace = this.trace;
    const [file, cell, line] = trace.columns("frames", "file", "cell", "line");
    const isFrameHit = flags(file, (code, frame) => fits(code, cell[frame]!, line[frame]!));
    return opsThroughFrames(trace, isFrameHit);
  }
}

/** Set 1 at each position in `strings` that occurs in a text column. */
function markCodes(isFound: Uint8Array, codes: ArrayLike<number>): Uint8Array {
  for (let row = 0; row < codes.length; row++) isFound[codes[row]!] = 1;
  return isFound;
}
