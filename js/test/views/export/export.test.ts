import { expect, test } from "vitest";
import { fileName } from "../../../src/dom/save_file.ts";
import { COLOUR_NAMES } from "../../../src/dom/theme.ts";
import {
  graphDrawing,
  type PictureStyle,
  svgOf,
} from "../../../src/views/export/export_picture.ts";
import {
  EMPTY_SCENE,
  type Scene,
  type SceneBox,
  type SceneEdge,
} from "../../../src/views/scene/scene.ts";

const HOSTILE = `</text><script>alert(1)</script>"'&\u0000\ud800\u{1f600}`;

/** Draws everything, cuts nothing: a character is 6 px wide. */
const STYLE: PictureStyle = {
  theme: {
    ...Object.fromEntries(COLOUR_NAMES.map((name) => [name, "#102030"])),
    lit: "#fff1bd80",
    font: "sans-serif",
    mono: "monospace",
  } as PictureStyle["theme"],
  measure: {
    font: () => "500 12px sans-serif",
    width: (text: string) => 6 * text.length,
    fit: (text: string) => text,
  } as unknown as PictureStyle["measure"],
  emphasis: {
    isSelected: () => false,
    isLit: (box: SceneBox) => box.op === 1,
    isMatch: () => false,
    isFrameSelected: () => false,
    isChipSelected: () => false,
    isEdgeStrong: () => false,
    marksOf: () => [],
    wayAlong: () => undefined,
    endsAt: () => undefined,
  } as unknown as PictureStyle["emphasis"],
  showShapes: true,
  norms: undefined,
  colours: undefined,
};

const BOX: SceneBox = {
  x: 100,
  y: 40,
  width: 120,
  height: 28,
  label: "linear",
  sublabel: "",
  kind: "op",
  phase: "forward",
  op: 0,
  gradNode: -1,
  group: -1,
  tensor: -1,
  chips: [],
  state: "normal",
  id: "op:0",
};
const EDGE: SceneEdge = {
  pathX: [100, 100],
  pathY: [54, 86],
  kind: "data",
  phase: "forward",
  label: "[4, 16]",
  tensor: 0,
  gradEdges: [],
  count: 1,
  source: 0,
  target: 1,
};

function scene(label: string): Scene {
  const chip = { label, tensor: 3, kind: "parameter", x: -80, y: 0, width: 20, height: 18 };
  return {
    ...EMPTY_SCENE,
    width: 200,
    focusX: 100,
    mains: [],
    height: 140,
    boxes: [
      { ...BOX, label, chips: [chip] },
      { ...BOX, y: 100, op: 1, sublabel: label, state: "raised", kind: "pylayer" },
    ],
    frames: [
      {
        x: 100,
        y: 70,
        width: 180,
        height: 120,
        title: label,
        subtitle: label,
        group: 0,
        kind: "region",
        side: "forward",
        depth: 0,
        refold: "",
        id: "group:0",
      },
    ],
    edges: [{ ...EDGE, label }],
    labels: [{ x: 0, y: 0, text: label, align: "middle", tone: "soft" }],
    rungs: [{ fromX: 0, toX: 20, y: 10 }],
  };
}

/** A reader of XML as strict as needed: every element closed, nothing raw in between. */
function elementsOf(xml: string): string[] {
  const open: string[] = [];
  const seen: string[] = [];
  const pattern = /<(\/?)([a-z]+)((?: [a-zA-Z:-]+="[^"<>]*")*)(\/?)>|([^<]+)/gy;
  let end = 0;
  for (const match of xml.matchAll(pattern)) {
    const [whole, closing, name, , alone, text] = match;
    end = match.index + whole.length;
    if (text !== undefined) {
      expect(text).not.toMatch(/&(?!#\d+;)/);
    } else if (closing) {
      expect(open.pop()).toBe(name);
    } else {
      seen.push(name!);
      if (!alone) open.push(name!);
    }
  }
  expect(end).toBe(xml.length);
  expect(open).toEqual([]);
  return seen;
}

test("the picture is well-formed, and is what the painters draw", () => {
  const svg = svgOf(graphDrawing(scene("linear"), STYLE, "Cell 4, forward"));
  const elements = elementsOf(svg);
  expect(elements[0]).toBe("svg");
  expect(new Set(elements)).toEqual(new Set(["svg", "title", "path", "text"]));
  expect(svg).toContain('width="280" height="220"');
  for (const text of ["linear", "✕ raised", "<title>Cell 4, forward</title>"]) {
    expect(svg).toContain(text);
  }
  // The lit box is filled with its colour, whose transparency SVG says apart.
  expect(svg).toContain('fill="#fff1bd" fill-opacity="0.5"');
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  expect(svg).not.toMatch(/(href|url\(|@import)/);
});

test("names that are markup stay text", () => {
  const svg = svgOf(graphDrawing(scene(HOSTILE), STYLE, HOSTILE));
  const elements = elementsOf(svg);
  expect(elements).not.toContain("script");
  expect(svg).toContain("&#60;script&#62;alert(1)");
  // What XML cannot hold is replaced; what it can is kept.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
  expect(svg).not.toMatch(/[\u0000-\u0008]/);
  expect(svg.isWellFormed()).toBe(true);
  expect(svg).toContain("\ufffd\ufffd\u{1f600}");
});

test("an empty scene is a picture as well", () => {
  expect(elementsOf(svgOf(graphDrawing(EMPTY_SCENE, STYLE, "")))[0]).toBe("svg");
});

test("file names hold no path", () => {
  expect(fileName("Cell 4 forward", "svg")).toBe("cell-4-forward.svg");
  expect(fileName("../../etc/passwd\u0000", "png")).toBe("etc-passwd.png");
  expect(fileName("训练 步骤 1", "svg")).toBe("训练-步骤-1.svg");
  expect(fileName("…", "txt")).toBe("trace.txt");
});

/** Where the shapes stand in a picture of edges that leave one box, in world px: left and right end, and height. */
function shapesBeside(...edges: Partial<SceneEdge>[]): { from: number; to: number; y: number }[] {
  const drawn = { ...scene("linear"), edges: edges.map((edge) => ({ ...EDGE, ...edge })) };
  const texts = svgOf(graphDrawing(drawn, STYLE, "")).matchAll(
    /<text x="([\d.-]+)" y="([\d.-]+)"[^>]*>\[4, 16\]/g,
  );
  return Array.from(texts, ([, x, y]) => ({
    from: Number(x) - 40,
    to: Number(x) - 40 + 6 * EDGE.label.length,
    y: Number(y) - 40,
  }));
}

test("a shape stands beside all lines that leave its box, once", () => {
  const straight = { pathX: [106, 106] };
  const leftwards = { pathX: [94, 40] };
  const rightwards = { pathX: [112, 170] };
  // A lane turns only after a first step away from the box.
  const lane: Partial<SceneEdge> = {
    kind: "lane",
    pathX: [112, 112, 190, 190],
    pathY: [54, 66, 66, 130],
  };
  for (const edges of [
    [leftwards, straight],
    [straight, leftwards],
  ]) {
    const [shape, ...more] = shapesBeside(...edges);
    expect(more).toEqual([]);
    expect(shape!.from).toBeGreaterThan(106);
  }
  for (const turning of [rightwards, lane]) {
    expect(shapesBeside(straight, turning)).toHaveLength(1);
    expect(shapesBeside(straight, turning)[0]!.to).toBeLessThan(106);
  }
  expect(shapesBeside(leftwards, rightwards)).toHaveLength(1);
  expect(shapesBeside(leftwards, rightwards)[0]!.to).toBeLessThan(94);
});
