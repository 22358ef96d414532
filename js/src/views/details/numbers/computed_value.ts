/** Values of ops and gradients of grad nodes, which the kernel computes again when asked. */

import { copyButton } from "../../../dom/clipboard.ts";
import { button, codeText, element } from "../../../dom/element.ts";
import { saveFile } from "../../../dom/save_file.ts";
import { sameOpInTurns } from "../../../model/graph/turns.ts";
import { t } from "../../../words/page.ts";
import type { PanelContext } from "../../facts/context.ts";
import { MOST_ITEMS } from "../../facts/facts.ts";
import type { NamedSubject, Subject, Value } from "../../facts/value_answer.ts";
import { valueContent } from "./value_content.ts";

/** A computation that takes longer shows how far it is, and a button that cancels it. */
const LONG_MS = 1000;

/** A button for each output of an op; a click shows the value instead. */
export function computedValues(context: PanelContext, op: number): HTMLElement[] {
  const { trace } = context;
  const outputs = [...trace.outputsOf(op)];
  return outputs.slice(0, MOST_ITEMS).map((use, output) => {
    const tensor = trace.at("uses", "tensor", use);
    const dtype = tensor < 0 ? "" : trace.textAt("tensors", "dtype", tensor);
    const number = outputs.length > 1 ? ` ${output}` : "";
    const name = `${trace.opLabel(op)} #${op}${number && ` · ${t("op.out")}${number}`}`;
    const title = t("value.show") + number;
    return computedValue(context, { subject: ["op", op, output, -1], name, dtype }, title);
  });
}

/** A button for each gradient that a grad node gets: one for each output of the node's op. */
export function computedGradients(context: PanelContext, gradNode: number): HTMLElement[] {
  const { trace, store } = context;
  const maker = trace.at("grad_nodes", "op", gradNode);
  const count = maker < 0 ? 1 : trace.outputsOf(maker).length;
  const node = trace.textAt("grad_nodes", "name", gradNode);
  const [calls, nodes] = trace.columns("backward_members", "backward_call", "grad_node");
  const { backwardCall } = store.state;
  const ran = calls.filter((_, row) => nodes[row] === gradNode);
  const call = ran.length > 1 && ran.includes(backwardCall) ? backwardCall : -1;
  return Array.from({ length: count }, (_, output) => {
    const number = count > 1 ? ` ${output}` : "";
    const name = t("gradient.labelled", { label: `${node}${number}` });
    const subject: Subject = ["grad_node", gradNode, output, call];
    return computedValue(context, { subject, name, dtype: "" }, t("value.gradient") + number);
  });
}

function computedValue(context: PanelContext, named: NamedSubject, title: string): HTMLElement {
  const { values: bench } = context;
  const box = element("div", { class: "pdl-computed" });
  let show: ((values: readonly Value[]) => void) | undefined;
  let isAsking = false;
  let next: readonly number[] | undefined;

  /** Ask one question at a time. While the kernel answers, keep only the newest place. */
  async function load(position: readonly number[]): Promise<void> {
    next = position;
    if (isAsking) return;
    isAsking = true;
    const waiting = new Waiting(box, !show);
    try {
      while (next) {
        const wanted = next;
        next = undefined;
        const values = await waiting.ask(context, subjects(), wanted);
        show ??= begin(values);
        show(values);
      }
    } catch (error) {
      close(error instanceof Error ? error.message : String(error));
    }
    waiting.end();
    isAsking = false;
  }

  function subjects(): Subject[] {
    const { pinned } = bench;
    const isBeside = pinned && String(pinned.subject) !== String(named.subject);
    return isBeside ? [named.subject, pinned.subject] : [named.subject];
  }

  function begin(values: readonly Value[]): (values: readonly Value[]) => void {
    const content = valueContent(context, [named, bench.pinned], values, load);
    const heading = element("h3", {}, title, element("span", {}, values[0]!.check));
    box.replaceChildren(heading, ...content.parts, actions(values[0]!));
    return content.show;
  }

  function again(): void {
    show = undefined;
    void load([]);
  }

  function close(reason: string): void {
    show = undefined;
    box.replaceChildren(element("div", { class: "pdl-soft", role: "status" }, codeText(reason)));
    box.append(opener());
  }

  function opener(): HTMLElement {
    const { pinned } = bench;
    const label = pinned ? t("value.beside", { title, name: pinned.name }) : title;
    return button(label, again, { title: t("value.tip"), "data-focus": String(named.subject) });
  }

  function actions({ line }: Value): HTMLElement {
    const { pinned } = bench;
    const pin = (to: NamedSubject | undefined) => () => {
      bench.pinned = to;
      again();
    };
    const save = async (): Promise<void> => {
      try {
        saveFile(await bench.source!.file(named.subject), named.name, "npy", box);
      } catch (error) {
        close(String((error as Error).message));
      }
    };
    return element(
      "div",
      { class: "pdl-actions" },
      element("code", {}, line),
      copyButton(t("clipboard.copy"), () => line),
      button(t("value.save"), () => void save(), { title: t("value.save_tip") }),
      pinned
        ? button(t("value.unpin"), pin(undefined))
        : button(t("value.pin"), pin(named), { title: t("value.pin_tip") }),
      otherTurn(),
    );
  }

  /** Pins this value, and shows the same op's value in another iteration beside it. */
  function otherTurn(): HTMLElement | false {
    const [of, op, output] = named.subject;
    const turns = of === "op" ? sameOpInTurns(context.trace, op) : [];
    if (turns.length < 2) return false;
    const select = element(
      "select",
      { class: "pdl-button", onchange: () => go(Number(select.value)) },
      ...turns.map(([name, other]) => element("option", { value: other }, name)),
    );
    select.value = String(op);
    const go = (other: number): void => {
      bench.pinned = named;
      bench.opens = ["op", other, output, -1];
      context.store.select({ kind: "op", op: other }, { reveal: true });
    };
    return element("label", {}, `${t("value.other_turn")} `, select);
  }

  box.append(opener());
  if (String(bench.opens) === String(named.subject)) {
    bench.opens = undefined;
    again();
  }
  return box;
}

/** What is shown while the kernel computes. */
class Waiting {
  readonly #bar = element("progress", { "aria-label": t("value.computing") });
  readonly #text = element("span", { class: "pdl-soft" });
  readonly #long = element("span", { hidden: true });
  readonly #row = element("div", { class: "pdl-waiting", role: "status" });
  readonly #abort = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(box: HTMLElement, isFirst: boolean) {
    const cancel = button(t("value.cancel"), () => this.#abort.abort());
    this.#long.append(this.#bar, " ", this.#text, " ", cancel);
    this.#row.append(isFirst ? `${t("value.computing")} ` : "", this.#long);
    this.#timer = setTimeout(() => {
      this.#long.hidden = false;
    }, LONG_MS);
    if (isFirst) box.replaceChildren(this.#row);
    else box.append(this.#row);
  }

  ask(context: PanelContext, subjects: Subject[], position: readonly number[]): Promise<Value[]> {
    const { source } = context.values;
    if (!source) return Promise.reject(new Error(t("value.page")));
    const progress = (done: number, of: number): void => {
      if (!this.#row.isConnected) this.#abort.abort(); // another op is selected
      this.#bar.value = done / of;
      this.#text.textContent = t("value.progress", { done, of });
    };
    return source.ask(subjects, position, { signal: this.#abort.signal, progress });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#row.remove();
  }
}
