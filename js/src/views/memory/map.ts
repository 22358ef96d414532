/** The address space in the chosen moment: blocks where they lie, and what is free between them. */
import { type BokehNamespace, bokehModels, loadBokeh } from "../../charts/bokeh_loader.ts";
import { mountFigure } from "../../charts/mount_figure.ts";
import { type BlockMap, mapBlocks } from "../../memory/block_map.ts";
import { litAllocations } from "../../memory/lit.ts";
import { MAP_KEYS, stepInMap } from "../../memory/map_steps.ts";
import { reservedSteps } from "../../memory/marks.ts";
import type { MemoryState } from "../../memory/memory_state.ts";
import type { Store } from "../../model/store.ts";
import { blockLine } from "../details/allocation.ts";
import { element } from "../element.ts";
import { countOf, formatBytes, formatDuration } from "../panel/quantities.ts";
import { watchTheme } from "../theme.ts";
import { faded, readMemoryPalette } from "./palette.ts";
import { placeBeside } from "./tooltip.ts";

const LEFT_PX = 10;
const ROW_PX = 30;

export class BlockMapView {
  readonly element: HTMLElement;
  readonly #text = element("p", { class: "pdl-soft" });
  readonly #host = element("div", { class: "pdl-map-figure" });
  readonly #pointer: HTMLElement;
  readonly #tooltip = element("div", { class: "pdl-tooltip", role: "tooltip", hidden: true });
  #map: BlockMap | undefined;
  #show: ((map: BlockMap) => void) | undefined;
  #frame = 0;
  #isDisposed = false;
  readonly #dispose: (() => void)[];

  constructor(
    readonly store: Store,
    readonly memory: MemoryState,
    readonly app: HTMLElement,
  ) {
    this.#pointer = element("div", {
      class: "pdl-map-pointer",
      role: "slider",
      tabindex: 0,
      "aria-label": "Block by address",
      "aria-valuemin": 0,
      "aria-valuenow": 0,
      style: `inset:0 ${LEFT_PX}px 0 ${LEFT_PX}px`,
      onclick: (event: MouseEvent) => this.#click(event),
      onkeydown: (event: KeyboardEvent) => this.#press(event),
      onpointermove: (event: PointerEvent) => this.#hover(event),
      onpointerleave: () => {
        this.#tooltip.hidden = true;
      },
    });
    this.element = element(
      "div",
      { class: "pdl-map" },
      this.#text,
      element("div", { class: "pdl-map-main" }, this.#host, this.#pointer),
    );
    app.append(this.#tooltip);
    const resized = new ResizeObserver(() => this.#schedule());
    resized.observe(this.#pointer);
    this.#dispose = [
      memory.subscribe(() => this.#schedule()),
      store.subscribe((state, previous) => {
        if (state.selection !== previous.selection) this.#schedule();
      }),
      watchTheme(() => this.#schedule()),
      () => resized.disconnect(),
      () => cancelAnimationFrame(this.#frame),
      () => this.#tooltip.remove(),
    ];
    void this.#draw();
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const end of this.#dispose) {
      end();
    }
  }

  async #draw(): Promise<void> {
    let bokeh: BokehNamespace;
    try {
      bokeh = await loadBokeh();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#host.replaceChildren(element("p", { class: "pdl-timeline-failure" }, text));
      return;
    }
    const models = bokehModels(bokeh);
    const columns = ["from", "to", "bottom", "top", "colour", "line"];
    const source = new models.ColumnDataSource({
      data: Object.fromEntries(columns.map((column) => [column, []])),
    });
    const x_range = new models.Range1d({ start: 0, end: 1 });
    const y_range = new models.Range1d({ start: 1, end: 0 });
    const plot = new models.Plot({
      x_range,
      y_range,
      sizing_mode: "stretch_both",
      min_border: 0,
      min_border_left: LEFT_PX,
      min_border_right: LEFT_PX,
      toolbar_location: null,
      outline_line_color: null,
      background_fill_color: null,
      border_fill_color: null,
    });
    const quad = new models.Quad({
      left: { field: "from" },
      right: { field: "to" },
      bottom: { field: "bottom" },
      top: { field: "top" },
      fill_color: { field: "colour" },
      line_color: { field: "line" },
      line_width: 1,
    });
    plot.renderers = [
      new models.GlyphRenderer({ data_source: source, glyph: quad, nonselection_glyph: null }),
    ];
    const mounted = await mountFigure(bokeh, plot, this.#host);
    this.#dispose.push(() => mounted.dispose());
    if (this.#isDisposed) {
      mounted.dispose();
      return;
    }
    this.#show = (map) => {
      const { kinds, bg, chip, select } = readMemoryPalette(this.app);
      const { blocks } = this.memory;
      const lit = litAllocations(this.store);
      const isLit = (block: number): boolean => block >= 0 && lit?.[blocks.rows[block]!] === 1;
      const { kind } = this.memory.choice;
      const isFaded = (block: number): boolean =>
        block >= 0 && (lit ? !isLit(block) : kind >= 0 && blocks.kinds[block] !== kind);
      const of = <T>(value: (block: number, at: number) => T): T[] => Array.from(map.blocks, value);
      x_range.setv({ start: 0, end: map.row_bytes });
      y_range.setv({ start: map.rowCount, end: 0 });
      source.data = {
        from: Array.from(map.from_bytes),
        to: Array.from(map.to_bytes),
        bottom: Array.from(map.rows, (row) => row + 0.92),
        top: Array.from(map.rows, (row) => row + 0.08),
        colour: of((block) => {
          const colour = block < 0 ? chip : kinds[blocks.kinds[block]!]!;
          return isFaded(block) ? faded(colour, bg) : colour;
        }),
        line: of((block) => (isLit(block) ? select : bg)),
      };
    };
    this.#refresh();
  }

  #schedule(): void {
    this.#frame ||= requestAnimationFrame(() => this.#refresh());
  }

  #refresh(): void {
    this.#frame = 0;
    const { clientWidth: width_px, clientHeight: height_px } = this.#pointer;
    if (!width_px) {
      return;
    }
    const { blocks, moment, trace } = this.memory;
    const { time_ns: at_ns, total_bytes } = moment;
    const rowCount = Math.floor(height_px / ROW_PX);
    const { times_ns, reserved_bytes } = reservedSteps(trace, blocks.place);
    const step = times_ns.findLastIndex((time_ns) => time_ns <= at_ns);
    const reserved = step >= 0 ? reserved_bytes[step]! : 0;
    const kept_bytes = Math.max(0, reserved - total_bytes);
    const map = mapBlocks(trace, blocks, at_ns, { width_px, rowCount, kept_bytes });
    this.#map = map;
    this.#text.textContent = [
      `At ${formatDuration(Math.round(at_ns))}`,
      `${formatBytes(map.used_bytes)} in blocks, by address`,
      map.free_bytes > 0
        ? `${formatBytes(map.free_bytes)} free between them, ${formatBytes(map.largestFree_bytes)} at most in one piece`
        : "",
      kept_bytes > 0
        ? `${formatBytes(reserved)} reserved in ${countOf(map.regionCount, "region")}`
        : "the allocator keeps nothing free back",
    ]
      .filter(Boolean)
      .join(" · ");
    this.#show?.(map);
    this.#tellBlock(map);
  }

  /** What the keys are at, for those who do not see it. */
  #tellBlock(map: BlockMap): void {
    const block = this.#chosen;
    const at = block < 0 ? -1 : map.blocks.indexOf(block);
    this.#pointer.setAttribute("aria-valuemax", String(Math.max(0, map.blocks.length - 1)));
    this.#pointer.setAttribute("aria-valuenow", String(Math.max(0, at)));
    this.#pointer.setAttribute("aria-valuetext", at < 0 ? "no block" : this.#lineOf(block));
  }

  /** The block that is selected, -1 where it is none of this device's. */
  get #chosen(): number {
    const { selection } = this.store.state;
    return selection.kind === "allocation"
      ? this.memory.blocks.rows.indexOf(selection.allocation)
      : -1;
  }

  #lineOf(block: number): string {
    const row = this.memory.blocks.rows[block]!;
    const { trace } = this.memory;
    return `${blockLine(trace, row)} · 0x${trace.at("allocations", "address", row).toString(16)}`;
  }

  #press(event: KeyboardEvent): void {
    const key = MAP_KEYS.find((known) => known === event.key);
    if (!key || !this.#map || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const block = stepInMap(this.#map, this.#chosen, key);
    if (block >= 0) {
      this.store.select({ kind: "allocation", allocation: this.memory.blocks.rows[block]! });
    }
  }

  #at(event: MouseEvent): number | undefined {
    const map = this.#map;
    if (!map) {
      return undefined;
    }
    const bounds = this.#pointer.getBoundingClientRect();
    const row = Math.floor(((event.clientY - bounds.top) / bounds.height) * map.rowCount);
    const place_bytes = ((event.clientX - bounds.left) / bounds.width) * map.row_bytes;
    const at = map.blocks.findIndex(
      (_, piece) =>
        map.rows[piece] === row &&
        map.from_bytes[piece]! <= place_bytes &&
        place_bytes < map.to_bytes[piece]!,
    );
    return at < 0 ? undefined : at;
  }

  #click(event: MouseEvent): void {
    const at = this.#at(event);
    const block = at === undefined ? -1 : this.#map!.blocks[at]!;
    this.store.select(
      block < 0
        ? { kind: "none" }
        : { kind: "allocation", allocation: this.memory.blocks.rows[block]! },
    );
  }

  #hover(event: PointerEvent): void {
    const at = this.#at(event);
    if (at === undefined) {
      this.#tooltip.hidden = true;
      return;
    }
    const block = this.#map!.blocks[at]!;
    this.#tooltip.textContent = block < 0 ? "free, but held by the allocator" : this.#lineOf(block);
    this.#tooltip.hidden = false;
    placeBeside(this.#tooltip, this.app, event);
  }
}
