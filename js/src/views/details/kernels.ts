/** The times of the kernels of an op or a grad node, if kernels were profiled. */

import { element } from "../../dom/element.ts";
import { floats } from "../../trace/columns.ts";
import { kept } from "../../trace/kept.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { formatDuration, formatRate } from "../../words/quantities.ts";
import { type Fact, small } from "../facts/facts.ts";

type Owner = "op" | "grad_node";

/** "kernel time 45 µs · 2 launches", and the share of the roofline that was reached. */
export function kernelFacts(trace: Trace, owner: Owner, key: number): (Fact | false)[] {
  const row = rowOf(trace, owner, key);
  if (row < 0) return [];
  const times = (name: "host_ns" | "device_ns" | "gap_ns" | "first_kernel_ns" | "launches") =>
    trace.at("kernel_times", name, row);
  const hasDevice = times("device_ns") >= 0;
  const launches = small(` · ${t("count.launch", { n: times("launches") })}`);
  const first_ns = times("first_kernel_ns");
  return [
    [
      t("kernel.time"),
      formatDuration(hasDevice ? times("device_ns") : times("host_ns")),
      launches,
      ...(hasDevice
        ? [small(` · ${t("kernel.on_host", { time: formatDuration(times("host_ns")) })}`)]
        : []),
    ],
    first_ns >= 0 && [t("kernel.before"), formatDuration(first_ns)],
    hasDevice && [t("kernel.gap"), formatDuration(times("gap_ns"))],
    rooflineFact(trace, row),
  ];
}

function rooflineFact(trace: Trace, row: number): Fact | false {
  if (trace.table("rooflines").length === 0) return false;
  const share = floats(Int32Array.of(trace.at("roofline_shares", "share", row)))[0]!;
  const title = t("kernel.roofline_title", {
    flops: formatRate(trace.at("rooflines", "flops_per_second", 0), "FLOP/s"),
    bytes: formatRate(trace.at("rooflines", "bytes_per_second", 0), "B/s"),
    dtype: trace.textAt("rooflines", "dtype", 0),
    place: trace.textAt("rooflines", "place", 0),
  });
  if (share < 0) return [t("kernel.roofline"), element("span", { title }, t("kernel.unknown"))];
  const bound = trace.at("roofline_shares", "is_compute", row) ? "compute" : "memory";
  const percent = share < 0.001 ? "< 0.1" : Number((100 * share).toPrecision(2));
  return [
    t("kernel.roofline"),
    element("span", { title }, `${percent} %`),
    small(` · ${t(`kernel.${bound}`)}`),
    ...(share > 1 ? [element("div", { class: "pdl-soft" }, t(`kernel.above_${bound}`))] : []),
  ];
}

function rowOf(trace: Trace, owner: Owner, key: number): number {
  const rows = kept(trace, `kernels by ${owner}`, () => {
    const keys = trace.table("kernel_times").column(owner);
    const found = new Map<number, number>();
    for (let row = 0; row < keys.length; row++) found.set(keys[row]!, row);
    return found;
  });
  return rows.get(key) ?? -1;
}
