/** Simple colours for Python source: keywords, strings, comments. This is no parser. */

type Tint = "keyword" | "string" | "comment" | "";

/** A piece of a line: `end` is exclusive, both count characters. */
export interface TintedSpan {
  readonly start: number;
  readonly end: number;
  readonly tint: Tint;
}

const TOKENS = new RegExp(
  [
    /(?<string>(?<quotes>'''|""")[\s\S]*?(?:\k<quotes>|$)|'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?)/,
    /(?<comment>#.*)/,
    /(?<keyword>\b(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield)\b)/,
  ]
    .map((token) => token.source)
    .join("|"),
  "g",
);

/** The coloured spans of each line, in order; text between them is plain. */
export function tintPython(lines: readonly string[]): TintedSpan[][] {
  const spans: TintedSpan[][] = lines.map(() => []);
  let line = 0;
  let lineStart = 0;
  for (const match of lines.join("\n").matchAll(TOKENS)) {
    const tint = (["string", "comment", "keyword"] as const).find((name) => match.groups?.[name])!;
    const end = match.index + match[0].length;
    let start = match.index;
    while (start < end) {
      while (start > lineStart + lines[line]!.length) {
        lineStart += lines[line]!.length + 1;
        line++;
      }
      const lineEnd = lineStart + lines[line]!.length;
      if (start < lineEnd) {
        spans[line]!.push({
          start: start - lineStart,
          end: Math.min(end, lineEnd) - lineStart,
          tint,
        });
      }
      start = lineEnd + 1;
    }
  }
  return spans;
}
