/** The icicle on screen: draws it, finds boxes under the pointer, and moves among them by keys. */
import { element } from "../../dom/element.ts";
import type { Store } from "../../model/state/store.ts";
import { boxAround, membersOf, opsInside, phasesOf } from "../../model/time/box_facts.ts";
import { type IcicleBox, icicle, nameOfPart, type Part } from "../../model/time/icicle.ts";
import type { TimeState } from "../../model/time/time_state.ts";
import { kept } from "../../trace/kept.ts";
import { PHASES } from "../../trace/protocol.ts";
import { t } from "../../words/page.ts";
import type { Drawing } from "../export/export_picture.ts";
import { ChartFrame, emptied } from "../memory/figure/chart_frame.ts";
import { TextMeasure } from "../scene/measure.ts";
import { allInside, isGap, labelOfPart, linesOfPart, selectionOfBox } from "./labels.ts";
import { type BoxLook, type IcicleLook, paintIcicle, ROW_PX } from "./paint.ts";
import { timeDrawing } from "./picture.ts";
import { type IcicleStep, stepAmong } from "./steps.ts";

const KEYS: Readonly<Record<string, IcicleStep>> = {
  ArrowUp: "out",
  ArrowDown: "in",
  ArrowLeft: "left",
  ArrowRight: "right",
};

export class IcicleView {
  readonly element: HTMLElement;
  readonly #frame: ChartFrame;
  readonly #room = element("div");
  readonly #told = element("span", { class: "pdl-visually-hidden", role: "status" });
  readonly #measure: TextMeasure;
  #boxes: IcicleBox[] = [];
  /** The part, nesting and width for which the boxes were made. */
  #madeFor: readonly unknown[] = [];
  /** The position of the selected op or group among those that the cursor's box represents. */
  #member = 0;
  /** Whether this view is changing the selection. */
  #isSelecting = false;

  constructor(
    readonly store: Store,
    readonly state: TimeState,
    app: HTMLElement,
  ) {
    this.#frame = new ChartFrame(app, {
      canvas: "pdl-icicle-figure",
      pointer: {
        class: "pdl-icicle-pointer pdl-scroll",
        role: "application",
        "aria-roledescription": t("time.icicle"),
        "aria-label": t("time.label"),
        "aria-valuemin": undefined,
        onclick: (event: MouseEvent) => this.#click(event),
        ondblclick: (event: MouseEvent) => this.#zoom(this.#at(event)),
        onkeydown: (event: KeyboardEvent) => this.#press(event),
        onpointermove: (event: PointerEvent) => this.#hover(event),
        onpointerleave: () => this.#frame.hush(),
        onscroll: () => this.#frame.schedule(),
        onfocus: () => this.#frame.schedule(),
        onblur: () => {
          this.#frame.hush();
          this.#frame.schedule();
        },
      },
      draw: () => this.draw(),
    });
    const { canvas, pointer } = this.#frame;
    pointer.append(this.#room);
    this.#measure = new TextMeasure(this.#frame.palette.font);
    this.element = element("div", { class: "pdl-icicle" }, canvas, pointer, this.#told);
    const reveal = (): void => this.#follow(true);
    store.onReveal.add(reveal);
    this.#frame.own(
      () => store.onReveal.delete(reveal),
      state.subscribe(() => this.#frame.schedule()),
      store.subscribe((now, before) => {
        if (now.selection !== before.selection && !this.#isSelecting) this.#follow(false);
        if (now.selection !== before.selection || now.matches !== before.matches) {
          this.#frame.schedule();
        }
      }),
    );
    this.#follow(false);
  }

  dispose(): void {
    this.#frame.dispose();
  }

  focus(): void {
    this.#frame.pointer.focus({ preventScroll: true });
  }

  drawing(): Drawing {
    return timeDrawing(this.state, this.#boxes, this.#style(), this.#frame.size.width_px);
  }

  draw(): void {
    const { width_px, height_px } = this.#frame.size;
    if (!width_px) return;
    this.#make(width_px);
    const { pointer, canvas } = this.#frame;
    const isFocused = pointer === document.activeElement;
    const style = this.#style();
    const cursor = nameOfPart(this.state.choice.cursor);
    paintIcicle(
      emptied(canvas),
      this.#boxes,
      isFocused || this.state.choice.cursor.box > 0 ? { ...style, cursor } : style,
      pointer.scrollTop,
      height_px,
    );
    this.element.dataset.drawn = String(this.#boxes.length);
  }

  #make(width_px: number): void {
    const { part, grown } = this.state;
    const madeFor = [grown, nameOfPart(part), width_px];
    if (madeFor.every((one, at) => one === this.#madeFor[at])) return;
    this.#madeFor = madeFor;
    this.#boxes = icicle(grown.tree, part, width_px);
    const rows = 1 + (this.#boxes.at(-1)?.row ?? 0);
    this.#room.style.height = `${rows * ROW_PX}px`;
    this.element.dataset.totalNs = String(grown.tree.total_ns(part.box));
  }

  #style(): IcicleLook {
    const { state, store } = this;
    const { trace, grown } = state;
    const { tree } = grown;
    const phases = kept(grown, "phases", () => phasesOf(trace, grown));
    const inside = allInside(state);
    const isSelection = store.state.selection.kind !== "none";
    const lit = isSelection ? opsInside(grown, store.litOps()) : undefined;
    const { matches, query } = store.state;
    const found = query.trim()
      ? kept(matches, `found in time ${tree.length}`, () => opsInside(grown, store.matchMask()))
      : undefined;
    const look = ({ box, only }: IcicleBox): BoxLook => {
      const kind = tree.of(box).kind;
      const phase = phases[box]!;
      const count = (of: Int32Array): number =>
        only ? only.reduce((sum, inner) => sum + of[inner]!, 0) : of[box]!;
      return {
        colour: phase < 0 ? "soft" : PHASES[phase]!,
        fill: only
          ? "soft"
          : isGap(kind)
            ? "line"
            : kind === "op" || kind === "backward" || kind === "grad_node"
              ? "strong"
              : "soft",
        isSelected: !!lit && count(lit) > 0 && count(lit) === count(inside),
        isFaded: !!found && count(found) === 0,
      };
    };
    const theme = this.#frame.palette;
    this.#measure.family = theme.font;
    return { theme, measure: this.#measure, look, label: (box) => labelOfPart(state, box) };
  }

  #at(event: MouseEvent): IcicleBox | undefined {
    const { left, top } = this.#frame.pointer.getBoundingClientRect();
    const x = event.clientX - left;
    const row = Math.floor((event.clientY - top + this.#frame.pointer.scrollTop) / ROW_PX);
    const inRow = this.#boxes.filter((box) => box.row === row);
    return (
      inRow.find((box) => box.left_px <= x && x < box.left_px + box.width_px) ??
      inRow.find((box) => Math.abs(box.left_px - x) < 2)
    );
  }

  #click(event: MouseEvent): void {
    const hit = this.#at(event);
    this.focus();
    if (hit) this.#choose(partOf(hit));
    else this.store.select({ kind: "none" });
  }

  /** Move the cursor to a part and select it. Another click selects the part's next item. */
  #choose(part: Part): void {
    const { state, store } = this;
    const isSame = nameOfPart(part) === nameOfPart(state.choice.cursor);
    state.move(part);
    const { kind } = state.grown.tree.of(part.box);
    const members = part.only ? [-1] : membersOf(state.grown, state.places, part.box);
    this.#member = isSame ? (this.#member + 1) % members.length : 0;
    this.#isSelecting = true;
    store.select(
      part.only ? { kind: "none" } : selectionOfBox(state.trace, kind, members[this.#member] ?? -1),
    );
    this.#isSelecting = false;
    this.#tell();
  }

  #zoom(part: Part | undefined): void {
    if (part) this.state.zoom(partOf(part));
    this.#frame.pointer.scrollTop = 0;
    this.#frame.hush();
  }

  #hover(event: PointerEvent): void {
    const hit = this.#at(event);
    if (hit) this.#frame.tell(linesOfPart(this.state, hit), event);
    else this.#frame.hush();
  }

  #press(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.#act(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @returns whether the key does something here */
  #act(key: string): boolean {
    const { state } = this;
    const step = KEYS[key];
    if (step) {
      const to = stepAmong(this.#boxes, state.choice.cursor, step);
      if (to) this.#choose(partOf(to));
      this.#showCursor();
      return true;
    }
    switch (key) {
      case "Enter":
      case " ":
        this.#zoom(state.choice.cursor);
        this.#tell();
        return true;
      case "Escape":
      case "Backspace":
        return state.zoomOut(state.choice.trail.length - 2);
      case "f":
        return state.zoomOut(0);
      default:
        return false;
    }
  }

  /** Scroll to the cursor's box, and show its tooltip there. */
  #showCursor(): void {
    const { pointer } = this.#frame;
    const name = nameOfPart(this.state.choice.cursor);
    const box = this.#boxes.find((one) => nameOfPart(one) === name);
    if (!box) return;
    const top = box.row * ROW_PX;
    if (top < pointer.scrollTop) pointer.scrollTop = top;
    const below = top + ROW_PX - pointer.clientHeight;
    if (below > pointer.scrollTop) pointer.scrollTop = below;
    const at = pointer.getBoundingClientRect();
    this.#frame.tell(linesOfPart(this.state, box), {
      clientX: at.left + box.left_px,
      clientY: at.top + top + ROW_PX / 2 - pointer.scrollTop,
    });
  }

  /** Describe the cursor's box to screen readers. */
  #tell(): void {
    const { cursor } = this.state.choice;
    this.#told.textContent = linesOfPart(this.state, cursor).join(". ");
    this.element.dataset.cursorNs = String(this.state.grown.tree.total_ns(cursor.box));
  }

  /** Move the cursor to a selection that was made elsewhere. */
  #follow(isRevealed: boolean): void {
    const { store, state } = this;
    if (store.state.mode !== "time" || store.state.selection.kind === "none") return;
    const box = boxAround(state.grown, store.litOps());
    if (box < 0) return;
    const path = state.grown.tree.path(box);
    if (isRevealed && !path.includes(state.part.box)) state.zoomOut(0);
    state.move({ box });
    this.#tell();
  }
}

function partOf({ box, only }: Part): Part {
  return only ? { box, only } : { box };
}
