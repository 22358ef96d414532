import { expect, test } from "vitest";
import { neighbour } from "../../../src/views/keyboard/neighbours.ts";
import {
  EMPTY_SCENE,
  type Scene,
  type SceneBox,
  type SceneEdge,
} from "../../../src/views/scene/scene.ts";

const at = (x: number, y: number): SceneBox => ({
  x,
  y,
  width: 100,
  height: 28,
  label: "",
  sublabel: "",
  kind: "op",
  phase: "forward",
  op: 0,
  gradNode: -1,
  group: -1,
  tensor: -1,
  chips: [],
  state: "normal",
  id: "",
});
const edge = (source: number, target: number): SceneEdge => ({
  pathX: [],
  pathY: [],
  kind: "data",
  phase: "forward",
  label: "",
  tensor: -1,
  gradEdges: [],
  count: 1,
  source,
  target,
});

// 0 → 1 and 0 → 3 fan out; 2 lies straight below 0 without an edge.
const SCENE: Scene = {
  ...EMPTY_SCENE,
  boxes: [at(100, 0), at(80, 200), at(100, 60), at(300, 200)],
  edges: [edge(0, 3), edge(0, 1)],
};

test("down follows the straightest edge, though a box without one is nearer", () => {
  expect(neighbour(SCENE, 0, "down")).toBe(1);
  expect(neighbour(SCENE, 3, "up")).toBe(0);
});

test("without an edge that way the nearest box is next, or none", () => {
  expect(neighbour(SCENE, 2, "down")).toBe(1);
  expect(neighbour(SCENE, 1, "right")).toBe(3);
  expect(neighbour(SCENE, 3, "right")).toBe(-1);
});

test("from nowhere the first box is first", () => {
  expect(neighbour(SCENE, -1, "down")).toBe(0);
  expect(neighbour(EMPTY_SCENE, -1, "down")).toBe(-1);
});
