/** Which counter is drawn in which panel, and how. Lines differ in colour and dash. */
import type { ColourName } from "../../dom/theme.ts";
import { t } from "../../words/live.ts";
import type { Counter } from "./messages.ts";

export interface Line {
  /** Position among all counters. */
  readonly counter: number;
  readonly label: string;
  /** An explanation of the counter. */
  readonly meaning: string;
  readonly colour: ColourName;
  /** Lengths of dashes and gaps in px; none for a solid line. */
  readonly dash: readonly number[];
  readonly is_filled: boolean;
}

export interface Panel {
  readonly name: string;
  readonly unit: Counter["unit"];
  readonly lines: readonly Line[];
}

type CounterKey = "allocated" | "reserved" | "peak";

const PADDLE_LINES: Record<
  string,
  Pick<Line, "colour" | "dash" | "is_filled"> & { readonly key: CounterKey }
> = {
  allocated: {
    key: "allocated",
    colour: "forward",
    dash: [],
    is_filled: true,
  },
  reserved: {
    key: "reserved",
    colour: "optimizer",
    dash: [7, 4],
    is_filled: false,
  },
  "peak allocated": {
    key: "peak",
    colour: "backward",
    dash: [2, 3],
    is_filled: false,
  },
};
const OTHER_COLOURS = ["leaf", "optimizer", "backward", "forward", "warn"] as const;
const OTHER_DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]] as const;

/** Devices whose memory Paddle counts. */
export function paddleDevices(counters: readonly Counter[]): string[] {
  const devices = counters.filter(({ source, absence }) => source === "paddle" && !absence);
  return [...new Set(devices.map(({ device }) => device))];
}

/** The device on which Paddle uses the most memory. An accelerator in use comes first. */
export function busiestDevice(counters: readonly Counter[], values: readonly number[]): string {
  const devices = paddleDevices(counters);
  const allocated = (device: string): number =>
    values[counters.findIndex((each) => each.device === device && each.name === "allocated")] || 0;
  const accelerators = devices.filter((device) => device !== "cpu" && allocated(device) > 0);
  const [first] = accelerators.sort((one, other) => allocated(other) - allocated(one));
  return first ?? devices[0] ?? "";
}

/** The panels of a chart, without empty ones. */
export function panelsOf(counters: readonly Counter[], device: string): Panel[] {
  const paddle: Line[] = [];
  const machine: Line[] = [];
  const busy: Line[] = [];
  for (const [counter, { name, device: of, source, unit, absence }] of counters.entries()) {
    if (absence) continue;
    if (source === "paddle") {
      const style = PADDLE_LINES[name];
      if (of === device && style) {
        const { key, ...drawn } = style;
        const [label, meaning] = [t(`counter.${key}`), t(`counter.${key}_title`)];
        paddle.push({ counter, label, meaning, ...drawn });
      }
      continue;
    }
    const lines = unit === "percent" ? busy : machine;
    const colour = OTHER_COLOURS[lines.length % OTHER_COLOURS.length]!;
    const dash = OTHER_DASHES[Math.floor(lines.length / 2) % OTHER_DASHES.length]!;
    const isProcess = of === "process";
    lines.push({
      counter,
      label: isProcess
        ? t("counter.process")
        : t("counter.of", { device: of, name: counterName(name) }),
      meaning: isProcess
        ? t("counter.process_title")
        : t("counter.of_title", { name: counterName(name) }),
      colour,
      dash,
      is_filled: false,
    });
  }
  const panels: Panel[] = [
    { name: t("panel.paddle", { device }), unit: "bytes", lines: paddle },
    { name: t("panel.machine"), unit: "bytes", lines: machine },
    { name: t("panel.utilisation"), unit: "percent", lines: busy },
  ];
  return panels.filter(({ lines }) => lines.length > 0);
}

/** Names of NVIDIA's counters. */
function counterName(name: string): string {
  return name === "used" || name === "utilisation" ? t(`counter.${name}`) : name;
}

/** Sentences about counters that this machine does not have. */
export function absences(counters: readonly Counter[]): string[] {
  return [...new Set(counters.map(({ absence }) => absence).filter((absence) => absence !== ""))];
}
