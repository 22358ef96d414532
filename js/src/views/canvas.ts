/** The picture: a canvas that draws a scene, moves about in it, and tells what was clicked. */
import type { Store } from "../model/store.ts";
import {
  type Camera,
  firstView,
  fitted,
  fittingScale,
  kept,
  panned,
  type Rectangle,
  revealing,
  type Size,
  toScreen,
  toWorld,
  zoomedAt,
} from "./camera.ts";
import { element } from "./element.ts";
import { MovingPicture } from "./paint/moving_picture.ts";
import { NormInk } from "./paint/norm_ink.ts";
import { type Brush, paint, paintOneBox } from "./paint/paint.ts";
import { listenToPointer } from "./pointer.ts";
import { Emphasis } from "./scene/emphasis.ts";
import type { TextMeasure } from "./scene/measure.ts";
import { EMPTY_SCENE, type Scene, type SceneBox } from "./scene/scene.ts";
import { type Hit, SceneIndex } from "./scene/scene_index.ts";
import { Transition } from "./scene/transition.ts";
import type { Theme } from "./theme.ts";

const SMALLEST_SCALE = 0.02;
const GLIDE_MS = 180;
const EDGE_REACH_PX = 5;
const OPENED_MARGIN_PX = 24;
/** A picture that has not moved for this long rests. */
const REST_MS = 140;
/** With more than this in view, what is drawn moves as an image (a box with text counts 1). */
const CROWDED = 260;
const OVERVIEW_AFTER_MS = 400;
const ITEMS_A_STRIP = 3000;

export interface CanvasActions {
  click(hit: Hit | undefined, event: PointerEvent): void;
  doubleClick(hit: Hit | undefined): void;
  /** `x`, `y` in the canvas, in CSS px. */
  hover(hit: Hit | undefined, x: number, y: number): void;
}

export class GraphCanvas {
  readonly element: HTMLCanvasElement;
  #scene: Scene = EMPTY_SCENE;
  #index = new SceneIndex(EMPTY_SCENE);
  #camera: Camera = { x: 0, y: 0, scale: 1 };
  #glide: { from: Camera; to: Camera; start_ms: number } | undefined;
  #transition: Transition | undefined;
  #view: Size = { width: 0, height: 0 };
  #hovered: Hit | undefined;
  #frame = 0;
  #hasBeenMoved = false;
  #isCrowded = false;
  #painting_ms = 0;
  /** The picture is to be drawn itself, not by what has been kept of it. */
  #mustPaint = false;
  #rest: ReturnType<typeof setTimeout> | undefined;
  readonly #moving: MovingPicture;
  readonly #store: Store;
  readonly #measure: TextMeasure;
  readonly #root: HTMLElement;
  #theme: Theme;
  readonly #dispose: (() => void)[] = [];

  constructor(
    root: HTMLElement,
    store: Store,
    measure: TextMeasure,
    theme: Theme,
    actions: CanvasActions,
    options: { ownsPage: boolean },
  ) {
    this.#root = root;
    this.#store = store;
    this.#measure = measure;
    this.#theme = theme;
    this.element = element("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label":
        "Graph. Arrow keys follow the edges, Enter opens a group, question mark lists all keys.",
    });
    root.prepend(this.element);
    this.#moving = new MovingPicture((context, camera, view) => {
      paint(this.#brush(context, camera, undefined), this.#index, view, { isPart: true });
    });
    const at = (x: number, y: number): Hit | undefined => this.#hitAt(x, y);
    this.#dispose.push(
      listenToPointer(
        this.element,
        {
          pan: (dx, dy) => this.moveTo(panned(this.#camera, dx, dy)),
          zoom: (x, y, factor) => this.zoom(factor, x, y),
          click: (x, y, event) => actions.click(at(x, y), event),
          doubleClick: (x, y) => actions.doubleClick(at(x, y)),
          hover: (x, y) => {
            this.#hover(at(x, y));
            actions.hover(this.#hovered, x, y);
          },
          leave: () => {
            this.#hover(undefined);
            actions.hover(undefined, 0, 0);
          },
        },
        options,
      ),
    );
    const observer = new ResizeObserver(() => this.#resize());
    observer.observe(root);
    this.#dispose.push(() => observer.disconnect());
    this.#dispose.push(() => cancelAnimationFrame(this.#frame));
    this.#dispose.push(() => clearTimeout(this.#rest));
    this.#resize();
  }

  get scene(): Scene {
    return this.#scene;
  }

  get camera(): Camera {
    return this.#glide?.to ?? this.#camera;
  }

  set theme(theme: Theme) {
    this.#theme = theme;
    this.draw();
  }

  /**
   * Show a scene.
   *
   * @param options.anchor id of a box or frame whose top edge keeps its place on screen
   * @param options.isNew the picture as a whole is another: look at its beginning
   */
  show(scene: Scene, options: { anchor?: string; isNew?: boolean } = {}): void {
    const previous = this.#scene;
    const anchored = options.anchor && this.#anchored(previous, scene, options.anchor);
    this.#scene = scene;
    this.#index = SceneIndex.of(scene);
    this.#hovered = undefined;
    this.#transition = options.isNew
      ? undefined
      : Transition.between(previous, scene, performance.now());
    if (options.isNew || !previous.boxes.length) {
      this.#hasBeenMoved = false;
      this.#lookAtBeginning();
    } else if (anchored) {
      this.moveTo(anchored.at);
      if (anchored.goal.y !== anchored.at.y || anchored.goal.x !== anchored.at.x) {
        this.glideTo(anchored.goal);
      }
    } else {
      this.moveTo(this.#camera);
    }
    this.draw();
  }

  fit(): void {
    this.glideTo(fitted(this.#scene, this.#view));
  }

  /** Zoom around a point of the canvas, its middle by default. */
  zoom(factor: number, x = this.#view.width / 2, y = this.#view.height / 2): void {
    const smallest = Math.min(SMALLEST_SCALE, fittingScale(this.#scene, this.#view));
    this.moveTo(zoomedAt(this.#camera, x, y, factor, smallest));
  }

  reveal(target: Rectangle): void {
    this.#hasBeenMoved = true;
    this.glideTo(revealing(this.camera, target, this.#view));
  }

  moveTo(camera: Camera): void {
    this.#glide = undefined;
    this.#hasBeenMoved = true;
    this.#camera = kept(camera, this.#scene, this.#view);
    this.#publish();
    this.#request();
  }

  glideTo(camera: Camera): void {
    const to = kept(camera, this.#scene, this.#view);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.moveTo(to);
      return;
    }
    this.#glide = { from: this.#camera, to, start_ms: performance.now() };
    this.#publish();
    this.#request();
  }

  /** Draw anew in the next frame: what the picture says has changed. */
  draw(): void {
    this.#moving.forget();
    this.#request();
  }

  #request(): void {
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
    // Behind the memory nobody sees it; whoever shows it again draws it.
    if (!this.#view.width || !this.#view.height || this.#root.closest(".pdl-shows-memory")) {
      return;
    }
    this.#matchScreen();
    const glide = this.#glide;
    if (glide) {
      const t = Math.min(1, Math.max(0, (now_ms - glide.start_ms) / GLIDE_MS));
      this.#camera = between(glide.from, glide.to, 1 - (1 - t) ** 3);
      this.#glide = t < 1 ? glide : undefined;
    }
    const progress = this.#transition ? Math.max(0, this.#transition.progress(now_ms)) : 1;
    if (progress >= 1) {
      this.#transition = undefined;
    }
    if (
      this.#isCrowded &&
      !this.#transition &&
      !this.#mustPaint &&
      this.#moving.serves(this.#camera.scale)
    ) {
      this.#showMoved();
    } else {
      this.#paint(progress);
    }
    if (this.#glide || this.#transition) {
      this.#request();
    }
  }

  /** Draw the picture itself. */
  #paint(progress: number): void {
    this.#mustPaint = false;
    const found = this.#transition?.at(progress, this.#index) ?? this.#index;
    const { context, pixels } = this.#surface();
    context.setTransform(pixels, 0, 0, pixels, 0, 0);
    // Edges fade in at their new places, but are never all gone.
    const edgeAlpha = 0.3 + 0.7 * progress * progress;
    const hovered = this.#isCrowded ? undefined : this.#hoveredBox;
    const brush = this.#brush(context, this.#camera, hovered);
    const began_ms = performance.now();
    const drawn = paint(brush, found, this.#view, { edgeAlpha });
    this.#isCrowded = drawn.weight > CROWDED && !this.#transition;
    if (this.#isCrowded) {
      this.#moving.keep(this.element, this.#camera);
      this.#paintHovered(context, pixels);
      this.#later(OVERVIEW_AFTER_MS, () => this.#drawOverview(pixels));
    }
    this.#painting_ms = performance.now() - began_ms;
    this.element.dataset.inView = String(drawn.boxes);
  }

  /** Show a crowded picture from where the camera is now, by what has been drawn before. */
  #showMoved(): void {
    const { context, pixels } = this.#surface();
    this.#moving.show(context, this.#camera, this.#view, pixels, this.#theme.bg);
    this.#paintHovered(context, pixels);
    if (!this.#moving.isAt(this.#camera)) {
      // Where drawing takes long, it must not come between two moves.
      this.#later(Math.max(REST_MS, 2 * this.#painting_ms), () => {
        this.#mustPaint = true;
        this.#request();
      });
    }
  }

  #paintHovered(context: CanvasRenderingContext2D, pixels: number): void {
    const hovered = this.#hoveredBox;
    if (hovered) {
      const { x, y, scale } = this.#camera;
      context.setTransform(pixels, 0, 0, pixels, x * pixels, y * pixels);
      context.scale(scale, scale);
      paintOneBox(this.#brush(context, this.#camera, hovered), hovered);
    }
  }

  #drawOverview(pixels: number): void {
    const isWhole = this.#camera.scale <= fittingScale(this.#scene, this.#view) * 1.05;
    if (!isWhole) {
      const { boxes, edges } = this.#scene;
      const strips = Math.ceil((boxes.length + edges.length) / ITEMS_A_STRIP);
      this.#moving.makeOverview(fitted(this.#scene, this.#view), this.#view, pixels, strips);
    }
  }

  /** One thing is done after a while in which the picture has not moved. */
  #later(wait_ms: number, act: () => void): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(act, wait_ms);
  }

  get #hoveredBox(): SceneBox | undefined {
    return this.#hovered?.kind === "box" ? this.#hovered.box : undefined;
  }

  #surface(): { context: CanvasRenderingContext2D; pixels: number } {
    const context = this.element.getContext("2d", { alpha: false })!;
    return { context, pixels: this.element.width / this.#view.width };
  }

  #brush(context: CanvasRenderingContext2D, camera: Camera, hovered: SceneBox | undefined): Brush {
    return {
      context,
      theme: this.#theme,
      measure: this.#measure,
      emphasis: new Emphasis(this.#store),
      camera,
      showShapes: this.#store.state.showShapes,
      hovered: hovered?.id ?? "",
      norms: NormInk.of(this.#store),
    };
  }

  #lookAtBeginning(): void {
    this.#glide = undefined;
    this.#camera = firstView(this.#scene, this.#view);
    this.#publish();
  }

  /** Where to look so that the top edge of an item stays where it was on screen, and where then. */
  #anchored(previous: Scene, next: Scene, id: string): { at: Camera; goal: Camera } | undefined {
    const [before, after] = [placeOf(previous, id), placeOf(next, id)];
    if (!before || !after) {
      return undefined;
    }
    const { camera } = this;
    const from = toScreen(camera, before.x, before.y - before.height / 2);
    const to = toScreen(camera, after.x, after.y - after.height / 2);
    const moved = panned(camera, from.x - to.x, from.y - to.y);
    const top = toScreen(moved, after.x, after.y - after.height / 2).y;
    const bottom = top + after.height * moved.scale;
    if (bottom < 0) {
      return { at: moved, goal: revealing(moved, after, this.#view) };
    }
    // What has been opened is shown as far as there is room: it may move up to the upper edge.
    const hidden = Math.max(0, bottom + OPENED_MARGIN_PX - this.#view.height);
    const up = Math.min(hidden, Math.max(0, top - OPENED_MARGIN_PX));
    return { at: moved, goal: panned(moved, 0, -up) };
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
      this.#request();
    }
  }

  #resize(): void {
    const bounds = this.#root.getBoundingClientRect();
    const width = Math.round(bounds.width);
    const height = Math.round(bounds.height);
    if (!width || !height) {
      return;
    }
    const before = this.#view;
    this.#view = { width, height };
    this.element.style.width = `${width}px`;
    this.element.style.height = `${height}px`;
    if (!this.#hasBeenMoved || !before.width) {
      this.#lookAtBeginning();
    } else {
      this.#camera = kept(
        panned(this.#camera, (width - before.width) / 2, 0),
        this.#scene,
        this.#view,
      );
    }
    // A resized canvas is blank: it must not wait for the next frame.
    this.#moving.forget();
    this.#drawNow(performance.now());
  }

  /** As many pixels as the screen has, which may change with the page's zoom or its window's screen. */
  #matchScreen(): void {
    const pixels = Math.min(3, window.devicePixelRatio || 1);
    const width = Math.round(this.#view.width * pixels);
    const height = Math.round(this.#view.height * pixels);
    if (this.element.width !== width || this.element.height !== height) {
      this.element.width = width;
      this.element.height = height;
      this.#moving.forget();
    }
  }

  /** Where the picture is, for whoever has to point at it from outside. */
  #publish(): void {
    const { x, y, scale } = this.camera;
    this.element.dataset.camera = `${x.toFixed(1)} ${y.toFixed(1)} ${scale.toFixed(4)}`;
  }
}

function nameOf(hit: Hit | undefined): string {
  return hit?.kind === "box" ? hit.box.id : "";
}

/** A fold stands where its first member stands when it is unfolded. */
function placeOf(scene: Scene, id: string): Rectangle | undefined {
  const twin = id.replace(/^(group|fold):/, (_, kind) => (kind === "fold" ? "group:" : "fold:"));
  const all = [...scene.boxes, ...scene.frames];
  return all.find((item) => item.id === id) ?? all.find((item) => item.id === twin);
}

function between(from: Camera, to: Camera, t: number): Camera {
  const mix = (a: number, b: number): number => a + (b - a) * t;
  return { x: mix(from.x, to.x), y: mix(from.y, to.y), scale: mix(from.scale, to.scale) };
}
