/** The panel's page when nothing is selected: the trace as a whole. */

import { button, element } from "../../dom/element.ts";
import { parametersOf } from "../../model/graph/trace_totals.ts";
import { PHASES } from "../../trace/protocol.ts";
import { hasMemory, type Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { formatBytes, formatCount, formatDuration } from "../../words/quantities.ts";
import { language } from "../../words/say.ts";
import type { PanelContext } from "../facts/context.ts";
import { type Fact, facts, heading, list, MOST_ITEMS, section, small } from "../facts/facts.ts";
import { depthSection } from "../gradients/depth_curve.ts";
import { lineOfBackwardCall } from "../names/backward_call.ts";

export function overviewDetails(context: PanelContext): HTMLElement[] {
  const { trace, totals } = context;
  const { origin } = trace;
  const byPhase = PHASES.map(() => 0);
  const gradNodes = trace.recordedGradNodeCount;
  const inPrograms = trace.opCount - trace.recordedOpCount;
  const phases = trace.table("ops").column("phase");
  for (let op = 0; op < trace.recordedOpCount; op++) byPhase[phases[op]!]!++;
  const parameters = parametersOf(trace, () => true);
  const versions = [
    origin.paddle && `Paddle ${origin.paddle}`,
    origin.python && `Python ${origin.python}`,
    origin.device,
  ];
  return [
    heading(origin.title || t("toolbar.trace"), ""),
    element("p", {}, whatToSelect(trace)),
    facts([
      ...PHASES.map(
        (phase, index) =>
          !!byPhase[index] && ([t(`overview.${phase}`), formatCount(byPhase[index]!)] as const),
      ),
      gradNodes > 0 && [t("overview.grad_nodes"), formatCount(gradNodes)],
      inPrograms > 0 && [t("overview.in_programs"), formatCount(inPrograms)],
      parameters.count > 0 && [
        t("group.parameters"),
        `${t("count.tensor", { n: parameters.count })} · ${formatBytes(parameters.bytes)}`,
      ],
      totals.duration_ns > 0 && [
        t("op.host_time"),
        t("overview.in_ops", { time: formatDuration(totals.duration_ns) }),
      ],
      memoryFact(context),
      origin.duration_ns > 0 && [t("overview.ran_for"), formatDuration(origin.duration_ns)],
      versions.some(Boolean) && [t("overview.with"), versions.filter(Boolean).join(" · ")],
      !!origin.created && [t("overview.at"), readableTime(origin.created)],
    ]),
    ...depthSection(context),
    ...backwardCalls(context),
  ];
}

function whatToSelect(trace: Trace): string {
  return t(hasMemory(trace) ? "overview.select_memory" : "overview.select");
}

function memoryFact({ store, trace }: PanelContext): Fact | false {
  const count = trace.table("allocations").length;
  return (
    count > 0 && [
      t("overview.memory"),
      button(t("count.allocation", { n: count }), () => store.update({ mode: "memory" }), {
        class: "pdl-link",
      }),
    ]
  );
}

function backwardCalls({ store, trace }: PanelContext): HTMLElement[] {
  const calls = trace.table("backward_calls").length;
  if (calls === 0) return [];
  const items = Array.from({ length: Math.min(calls, MOST_ITEMS) }, (_, call) => {
    const error = trace.textAt("backward_calls", "error", call);
    const kind = trace.backwardKind(call);
    const name = kind === "remaining" ? t("overview.not_run") : `${kind}()`;
    const line = lineOfBackwardCall(trace, call);
    const number = calls > 1 ? `${call + 1} · ` : "";
    return element(
      "span",
      {},
      button(number + name, () => store.update({ mode: "backward", backwardCall: call }), {
        class: "pdl-link",
      }),
      !!line && small(` · ${line}`),
      trace.at("backward_calls", "create_graph", call) === 1 &&
        element("small", {}, " · create_graph"),
      !!error && element("span", { class: "pdl-warn-text" }, ` ✕ ${error.split("\n")[0]}`),
    );
  });
  return [
    section(
      t("overview.graphs"),
      calls > 1 ? t("count.call", { n: calls }) : "",
      list(items, calls),
    ),
  ];
}

function readableTime(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime())
    ? iso
    : time.toLocaleString(language() === "zh" ? "zh-CN" : undefined);
}
