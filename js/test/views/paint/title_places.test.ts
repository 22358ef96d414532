import { expect, test } from "vitest";
import { TitlePlaces } from "../../../src/views/paint/title_places.ts";
import { EMPTY_SCENE, type SceneBox, type SceneFrame } from "../../../src/views/scene/scene.ts";
import { SceneIndex } from "../../../src/views/scene/scene_index.ts";

const frame = (x: number, y: number, width: number, height: number): SceneFrame => ({
  x: x + width / 2,
  y: y + height / 2,
  width,
  height,
  title: "net",
  subtitle: "",
  group: 0,
  kind: "layer",
  side: "forward",
  depth: 0,
  refold: "",
  id: "group:0",
});
const box = { x: 150, y: 60, width: 100, height: 28, chips: [] } as unknown as SceneBox;
const title = (x: number, y: number) => ({ left: x, right: x + 60, top: y, bottom: y + 12 });

test("a title lies on no box, on no frame's edge and on no other title", () => {
  const frames = [frame(0, 0, 400, 400), frame(20, 200, 100, 100)];
  const places = new TitlePlaces(new SceneIndex({ ...EMPTY_SCENE, boxes: [box], frames }), [
    title(600, 600),
  ]);
  expect(places.take(title(10, 5))).toBe(true);
  expect(places.take(title(40, 10))).toBe(false); // another title
  expect(places.take(title(130, 50))).toBe(false); // the box
  expect(places.take(title(40, 195))).toBe(false); // the inner frame's upper edge
  expect(places.take(title(370, 300))).toBe(false); // the outer frame's side
  expect(places.take(title(590, 600))).toBe(false); // other words
  expect(places.take(title(30, 220))).toBe(true);
  expect(places.take(title(500, 10))).toBe(true);
});
