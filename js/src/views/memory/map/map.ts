/** The address space at the chosen moment: blocks at their addresses, with free memory between. */
import { element } from "../../../dom/element.ts";
import { reservedSteps } from "../../../memory/blocks/marks.ts";
import { litAllocations } from "../../../memory/lit.ts";
import { type BlockMap, MAP_KEYS, mapBlocks, stepInMap } from "../../../memory/map/block_map.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import type { Store } from "../../../model/state/store.ts";
import { t } from "../../../words/page.ts";
import { formatBytes, formatDuration } from "../../../words/quantities.ts";
import { blockLine } from "../../details/allocation.ts";
import { ChartFrame, emptied } from "../figure/chart_frame.ts";
import { faded } from "../figure/palette.ts";

const ROW_PX = 30;

export class BlockMapView {
  readonly element: HTMLElement;
  readonly #text = element("p", { class: "pdl-soft" });
  readonly #frame: ChartFrame;
  #map: BlockMap | undefined;

  constructor(
    readonly store: Store,
    readonly memory: MemoryState,
    app: HTMLElement,
  ) {
    this.#frame = new ChartFrame(app, {
      canvas: "pdl-map-figure",
      pointer: {
        class: "pdl-map-pointer",
        "aria-label": t("map.label"),
        "aria-valuenow": 0,
        onclick: (event: MouseEvent) => this.#click(event),
        onkeydown: (event: KeyboardEvent) => this.#press(event),
        onpointermove: (event: PointerEvent) => this.#hover(event),
        onpointerleave: () => this.#frame.hush(),
      },
      draw: () => this.#draw(),
    });
    const { canvas, pointer } = this.#frame;
    const main = element("div", { class: "pdl-map-main" }, canvas, pointer);
    this.element = element("div", { class: "pdl-map" }, this.#text, main);
    const schedule = (): void => this.#frame.schedule();
    this.#frame.own(
      memory.subscribe(schedule),
      store.subscribe((state, previous) => {
        if (state.selection !== previous.selection) schedule();
      }),
    );
  }

  dispose(): void {
    this.#frame.dispose();
  }

  #draw(): void {
    const { width_px, height_px } = this.#frame.size;
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
    const placeless_bytes = total_bytes - map.used_bytes;
    this.#text.textContent = [
      t("map.at", { time: formatDuration(Math.round(at_ns)) }),
      t("map.used", { size: formatBytes(map.used_bytes) }),
      map.free_bytes > 0
        ? t("map.free", {
            size: formatBytes(map.free_bytes),
            largest: formatBytes(map.largestFree_bytes),
          })
        : "",
      kept_bytes > 0
        ? t("map.reserved", { size: formatBytes(reserved), n: map.regionCount })
        : t("map.no_free"),
      placeless_bytes > 0 ? t("map.placeless", { size: formatBytes(placeless_bytes) }) : "",
    ]
      .filter(Boolean)
      .join(" · ");
    this.#paint(map);
    this.#tellBlock(map);
  }

  /** Paint rows of blocks by address; block -1 is free memory. */
  #paint(map: BlockMap): void {
    const { canvas, palette, size } = this.#frame;
    const { kinds, bg, chip, select } = palette;
    const { blocks, choice } = this.memory;
    const lit = litAllocations(this.store);
    const [px_bytes, row_px] = [size.width_px / map.row_bytes, size.height_px / map.rowCount];
    const context = emptied(canvas);
    map.blocks.forEach((block, piece) => {
      const isLit = block >= 0 && lit?.[blocks.rows[block]!] === 1;
      const isOther = lit ? !isLit : choice.kind >= 0 && blocks.kinds[block] !== choice.kind;
      const colour = block < 0 ? chip : kinds[blocks.kinds[block]!]!;
      const left = map.from_bytes[piece]! * px_bytes;
      const across = map.to_bytes[piece]! * px_bytes - left;
      context.beginPath();
      context.rect(left, (map.rows[piece]! + 0.08) * row_px, across, 0.84 * row_px);
      context.fillStyle = block >= 0 && isOther ? faded(colour, bg) : colour;
      context.fill();
      context.strokeStyle = isLit ? select : bg;
      context.stroke();
    });
  }

  /** Describe the chosen block to screen readers. */
  #tellBlock(map: BlockMap): void {
    const block = this.#chosen;
    const at = block < 0 ? -1 : map.blocks.indexOf(block);
    const { pointer } = this.#frame;
    pointer.setAttribute("aria-valuemax", String(Math.max(0, map.blocks.length - 1)));
    pointer.setAttribute("aria-valuenow", String(Math.max(0, at)));
    pointer.setAttribute("aria-valuetext", at < 0 ? t("map.no_block") : this.#lineOf(block));
  }

  /** The selected block; -1 if the block is not on this device. */
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
    const { x, y } = this.#frame.placeOf(event);
    const row = Math.floor(y * map.rowCount);
    const place_bytes = x * map.row_bytes;
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
      this.#frame.hush();
      return;
    }
    const block = this.#map!.blocks[at]!;
    this.#frame.tell([block < 0 ? t("map.free_held") : this.#lineOf(block)], event);
  }
}
