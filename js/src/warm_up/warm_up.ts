/**
 * Before the first graph: runs the page's code until it is fast. A first picture takes several times as long where
 * its code is met for the first time as where it has drawn another.
 */
import type { LayoutRunner, NestedGraph, NestedResult } from "../layout/index.ts";
import { Store } from "../model/store.ts";
import { Trace } from "../model/trace.ts";
import { unpack } from "../model/unpack.ts";
import { afterPaint } from "../views/after_paint.ts";
import { mountApp, type Prepared } from "../views/app.ts";
import { element } from "../views/element.ts";
import { firstView } from "../views/first_view.ts";
import { Painting } from "../views/painting.ts";
import { Picture } from "../views/picture.ts";
import { TextMeasure } from "../views/scene/measure.ts";
import type { Scene } from "../views/scene/scene.ts";
import { SceneIndex } from "../views/scene/scene_index.ts";
import { nextTask } from "../views/scene/slices.ts";
import { wholeParts } from "../views/scene/whole_parts.ts";
import { readFont, readTheme } from "../views/theme.ts";
import { isWarmUpOver } from "./ending.ts";
import { madePayload } from "./made_payload.ts";

/** More rounds, or larger ones, gain next to nothing; none has a step that is long enough to be felt. */
const ROUNDS = [
  { opCount: 256, isDrawn: false },
  { opCount: 512, isDrawn: false },
  { opCount: 512, isDrawn: true },
  { opCount: 512, isDrawn: true },
];
const VIEW = { width: 900, height: 560 };
/** How long the page may keep it waiting at each step. */
const PATIENCE_MS = 500;

/** Read, arrange and draw made-up traces, in no page and bit by bit while the page has nothing else to do. */
export async function warmUpViews(): Promise<void> {
  for (const { opCount, isDrawn } of ROUNDS) {
    const payload = await madePayload(opCount);
    await rest();
    if (isWarmUpOver()) return;
    const trace = new Trace(await unpack(payload));
    await rest();
    if (isWarmUpOver()) return;
    const store = new Store(trace);
    const measure = new TextMeasure(readFont());
    await rest();
    const picture = new Picture(store, measure, { layout, cancelCurrent() {}, dispose() {} });
    const dispose = (): void => picture.dispose();
    let scene: Scene | undefined;
    picture.listen({ ...NO_LISTENER, composed: (composed) => (scene = composed) });
    await picture.refresh();
    await rest();
    if (isDrawn && scene) {
      await draw({ store, measure, picture, dispose }, scene);
    } else {
      dispose();
    }
  }
}

const NO_LISTENER = { arranged() {}, composed() {}, busy() {}, progress() {}, failed() {} };

/** Nothing of it is in the page: the browser neither lays it out nor paints it. */
async function draw(prepared: Prepared, scene: Scene): Promise<void> {
  const { store, measure } = prepared;
  const canvas = element("canvas");
  const painting = new Painting(canvas, store, measure, readTheme(document.body), () => {});
  const sight = {
    camera: firstView(scene, VIEW, wholeParts(scene, measure, VIEW.height)),
    view: VIEW,
    hovered: undefined,
    progress: 1,
  };
  painting.draw({ found: SceneIndex.of(scene), ...sight });
  painting.dispose();
  await rest();
  const app = mountApp(element("div"), prepared, { isStandalone: false });
  try {
    await app.ready;
    await rest();
    // As a click does: the panel tells of an op.
    store.select({ kind: "op", op: store.trace.opCount - 1 });
    await afterPaint();
    await rest();
  } finally {
    app.dispose();
  }
  await rest();
}

/** Boxes one below the other: what a worker answers for a straight line. */
const layout: LayoutRunner["layout"] = async (graph: NestedGraph): Promise<NestedResult> => {
  const { itemCount, edgeSource, edgeTarget } = graph;
  const edgeCount = edgeSource.length;
  const y = Float64Array.from({ length: itemCount }, (_, item) => 62 * item + 31);
  const ends = Array.from(edgeSource, (source, edge) => [
    y[source]! + 14,
    y[edgeTarget[edge]!]! - 14,
  ]);
  return {
    x: new Float64Array(itemCount).fill(140.5),
    y,
    width: graph.width.slice(),
    height: graph.height.slice(),
    totalWidth: 281,
    totalHeight: 62 * itemCount,
    onMainPath: new Uint8Array(itemCount).fill(1),
    edgeStart: Int32Array.from({ length: edgeCount + 1 }, (_, edge) => 2 * edge),
    edgeKind: new Uint8Array(edgeCount),
    pathX: new Float64Array(2 * edgeCount).fill(140.5),
    pathY: Float64Array.from(ends.flat()),
  };
};

/** Until the page has nothing else to do. */
function rest(): Promise<void> {
  if (typeof requestIdleCallback === "undefined") return nextTask();
  return new Promise((resolve) => {
    requestIdleCallback(() => resolve(), { timeout: PATIENCE_MS });
  });
}
