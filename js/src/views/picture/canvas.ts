/** The picture: a canvas that shows a scene, pans and zooms, and reports clicks. */

import { element } from "../../dom/element.ts";
import type { Theme } from "../../dom/theme.ts";
import { comparisonOf } from "../../model/graph/comparison.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { marksOfBox } from "../scene/box_marks.ts";
import {
  type Camera,
  coveredBelow,
  fitted,
  fittingScale,
  kept,
  panned,
  type Rectangle,
  revealing,
  type Size,
  toWorld,
  zoomedAt,
} from "../scene/camera.ts";
import type { TextMeasure } from "../scene/measure.ts";
import { EMPTY_SCENE, type Scene, type SceneBox } from "../scene/scene.ts";
import { type Hit, SceneIndex } from "../scene/scene_index.ts";
import { wholeParts } from "../scene/taken.ts";
import { anchored } from "./anchor.ts";
import { deepestInFirstView, firstView } from "./first_view.ts";
import { Glide } from "./glide.ts";
import { Painting } from "./painting.ts";
import { listenToPointer, type PointerActions } from "./pointer.ts";

const SMALLEST_SCALE = 0.02;
const EDGE_REACH_PX = 5;
/** The height that the legend of a comparison's colours covers. */
const LEGEND_PX = 60;

export interface CanvasActions {
  click(hit: Hit | undefined, event: PointerEvent): void;
  doubleClick(hit: Hit | undefined): void;
  /** `x`, `y` are the position in the canvas, in CSS px. */
  hover(hit: Hit | undefined, x: number, y: number): void;
  /** Called when the view has a place in the page. `width` is in CSS px. */
  placed(width: number): void;
  /**
   * Called if the panel below has reduced the height of the picture and may cover the selection.
   */
  shrunk(): void;
}

export class GraphCanvas {
  readonly element: HTMLCanvasElement;
  #scene: Scene = EMPTY_SCENE;
  #index = new SceneIndex(EMPTY_SCENE);
  #camera: Camera = { x: 0, y: 0, scale: 1 };
  #glide: Glide | undefined;
  #view: Size = { width: 0, height: 0 };
  #hovered: Hit | undefined;
  #frame = 0;
  #hasRoom = false;
  #hasBeenMoved = false;
  readonly #painting: Painting;
  readonly #dispose: (() => void)[] = [];

  constructor(
    readonly root: HTMLElement,
    readonly store: Store,
    readonly measure: TextMeasure,
    theme: Theme,
    readonly actions: CanvasActions,
    options: { ownsPage: boolean },
  ) {
    this.element = element("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label": t("canvas.label"),
    });
    root.prepend(this.element);
    this.#painting = new Painting(this.element, store, measure, theme);
    this.#dispose.push(listenToPointer(this.element, this.#onPointer(actions), options));
    this.#dispose.push(() => cancelAnimationFrame(this.#frame));
  }

  /** From now on, be as large as the surrounding element. */
  followSize(): void {
    const observer = new ResizeObserver(() => this.#resize());
    observer.observe(this.root);
    this.#dispose.push(() => observer.disconnect());
    this.#resize();
  }

  get scene(): Scene {
    return this.#scene;
  }

  get camera(): Camera {
    return this.#glide?.to ?? this.#camera;
  }

  set theme(theme: Theme) {
    this.#painting.theme = theme;
    this.draw();
  }

  /**
   * Show a scene.
   *
   * @param options.anchor id of a box or frame whose top edge stays at its place on the screen
   * @param options.isNew whether this is another picture, which is shown from the beginning
   */
  show(scene: Scene, options: { anchor?: string; isNew?: boolean } = {}): void {
    const previous = this.#scene;
    const { anchor: id } = options;
    const held = id ? anchored({ previous, next: scene, id }, this.camera, this.#view) : undefined;
    this.#scene = scene;
    this.#index = new SceneIndex(scene);
    this.#hovered = undefined;
    if (options.isNew || !previous.boxes.length) {
      this.#hasBeenMoved = false;
      this.#lookAtBeginning();
      // Draw now, not in the next animation frame: other work may delay that frame.
      this.#drawNow(performance.now());
      return;
    }
    if (held) {
      this.moveTo(held.at);
      if (held.goal.y !== held.at.y || held.goal.x !== held.at.x) {
        this.glideTo(held.goal);
      }
    } else {
      this.moveTo(this.#camera);
    }
    this.draw();
  }

  fit(): void {
    this.glideTo(fitted(this.#scene, this.#view));
  }

  /** Zoom around a point of the canvas; by default around the middle. */
  zoom(factor: number, x = this.#view.width / 2, y = this.#view.height / 2): void {
    const smallest = Math.min(SMALLEST_SCALE, fittingScale(this.#scene, this.#view));
    this.moveTo(zoomedAt(this.#camera, x, y, factor, smallest));
  }

  /** @param below_px how much of the lower edge is covered */
  reveal(target: Rectangle, below_px = 0): void {
    this.#hasBeenMoved = true;
    this.glideTo(this.#revealing(target, below_px));
  }

  #revealing(target: Rectangle, below_px: number): Camera {
    const view = { ...this.#view, height: Math.max(1, this.#view.height - below_px) };
    return revealing(this.camera, target, view);
  }

  /** Move up until the lower edge of a rectangle is visible. */
  uncover(target: Rectangle): void {
    const { camera } = this;
    const covered_px = coveredBelow(camera, target, this.#view);
    if (covered_px > 0) {
      this.glideTo(panned(camera, 0, -covered_px));
    }
  }

  moveTo(camera: Camera): void {
    this.#glide = undefined;
    this.#hasBeenMoved = true;
    this.#camera = kept(camera, this.#scene, this.#view);
    this.#publish();
    this.draw();
  }

  glideTo(camera: Camera): void {
    const to = kept(camera, this.#scene, this.#view);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.moveTo(to);
      return;
    }
    this.#glide = new Glide(this.#camera, to, performance.now());
    this.#publish();
    this.draw();
  }

  /** Draw again in the next frame, because the picture has changed. */
  draw(): void {
    this.#frame ||= requestAnimationFrame((now_ms) => {
      this.#frame = 0;
      this.#drawNow(now_ms);
    });
  }

  dispose(): void {
    for (const dispose of this.#dispose) {
      dispose();
    }
    this.element.remove();
  }

  #drawNow(now_ms: number): void {
    // Another view covers the picture. The picture is drawn when it is shown again.
    if (!this.#view.width || !this.#view.height || this.root.closest(".pdl-no-graph")) {
      return;
    }
    if (this.#glide) {
      this.#camera = this.#glide.at(now_ms);
      this.#glide = this.#glide.isOver(now_ms) ? undefined : this.#glide;
    }
    this.#painting.draw({
      found: this.#index,
      camera: this.#camera,
      view: this.#view,
      hovered: nameOf(this.#hovered),
    });
    if (this.#glide) {
      this.draw();
    }
  }

  #onPointer({ click, doubleClick, hover }: CanvasActions): PointerActions {
    // The tooltip disappears when the picture moves.
    const leave = (): void => {
      this.#hover(undefined);
      hover(undefined, 0, 0);
    };
    return {
      pan: (dx, dy) => {
        hover(undefined, 0, 0);
        this.moveTo(panned(this.#camera, dx, dy));
      },
      zoom: (x, y, factor) => {
        hover(undefined, 0, 0);
        this.zoom(factor, x, y);
      },
      click: (x, y, event) => click(this.#hitAt(x, y), event),
      doubleClick: (x, y) => doubleClick(this.#hitAt(x, y)),
      hover: (x, y) => {
        this.#hover(this.#hitAt(x, y));
        hover(this.#hovered, x, y);
      },
      leave,
    };
  }

  #hitAt(x: number, y: number): Hit | undefined {
    const at = toWorld(this.#camera, x, y);
    return this.#index.at(at.x, at.y, EDGE_REACH_PX / this.#camera.scale);
  }

  #hover(hit: Hit | undefined): void {
    const previous = this.#hovered;
    this.#hovered = hit;
    this.element.style.cursor = hit && hit.kind !== "frame" ? "pointer" : "";
    if (hit?.kind === "frame" && (hit.onToggle || hit.onRefold)) {
      this.element.style.cursor = "pointer";
    }
    if (nameOf(previous) !== nameOf(hit)) {
      this.draw();
    }
  }

  #lookAtBeginning(): void {
    this.#glide = undefined;
    const parts = wholeParts(this.#scene, this.measure, deepestInFirstView(this.#view));
    this.#camera = firstView(this.#scene, this.#view, parts);
    // A comparison begins where the runs first differ, above the legend of the colours.
    const isOrigin = (box: SceneBox): boolean => marksOfBox(this.store, box)[0]?.role === "origin";
    const origin = comparisonOf(this.store.trace) && this.#scene.boxes.find(isOrigin);
    if (origin) this.#camera = kept(this.#revealing(origin, LEGEND_PX), this.#scene, this.#view);
    this.#publish();
  }

  #resize(): void {
    const bounds = this.root.getBoundingClientRect();
    const width = Math.round(bounds.width);
    const height = Math.round(bounds.height);
    if (width && !this.#hasRoom) {
      this.#hasRoom = true;
      this.actions.placed(width);
    }
    if (!width || !height) {
      return;
    }
    const before = this.#view;
    this.#view = { width, height };
    this.element.style.width = `${width}px`;
    this.element.style.height = `${height}px`;
    // Do not move the camera if the panel below grew because of a selection.
    const isPanelsDoing = width === before.width && this.store.state.selection.kind !== "none";
    this.#hasBeenMoved ||= isPanelsDoing;
    if (!this.#hasBeenMoved || !before.width) {
      this.#lookAtBeginning();
    } else {
      this.#camera = kept(
        panned(this.#camera, (width - before.width) / 2, 0),
        this.#scene,
        this.#view,
      );
    }
    // A resized canvas is blank, so it must not wait for the next frame.
    this.#drawNow(performance.now());
    if (isPanelsDoing && height < before.height) {
      this.actions.shrunk();
    }
  }

  /** Publish the camera, for outside code that must point at the picture. */
  #publish(): void {
    const { x, y, scale } = this.camera;
    this.element.dataset.camera = `${x.toFixed(1)} ${y.toFixed(1)} ${scale.toFixed(4)}`;
  }
}

function nameOf(hit: Hit | undefined): string {
  return hit?.kind === "box" ? hit.box.id : "";
}
