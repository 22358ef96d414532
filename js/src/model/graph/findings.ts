/** The findings of the checks, and the places in the graphs that they mark. */
import { EDGE_KINDS, MARK_ROLES, SEVERITIES } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import type { Hierarchy } from "./hierarchy.ts";

export type Severity = (typeof SEVERITIES)[number];
/** `here` marks the op or grad node of a finding for which the finding has no other role. */
export type MarkRole = (typeof MARK_ROLES)[number] | "here";

export interface Finding {
  /** Row of `findings`. The first finding is the worst. */
  readonly key: number;
  readonly kind: string;
  readonly severity: Severity;
  readonly message: string;
  readonly advice: string;
  /** The file's name, as a position in `strings`. */
  readonly file: number;
  /** From 1; 0 if the line is unknown. */
  readonly line: number;
  /** Execution count of the notebook cell, -1 for a file. */
  readonly cell: number;
  readonly op: number;
  readonly gradNode: number;
}

/** A mark of a finding at an op, a grad node or a group. */
export interface Mark {
  readonly finding: Finding;
  readonly role: MarkRole;
}

/** An op, grad node or groups of a box, to look up its marks. */
export interface MarkedThing {
  readonly op: number;
  readonly gradNode: number;
  readonly group: number;
  /**
   * All groups of a folded run, or only the group if it is not in a run; empty for ops and grad
   * nodes.
   */
  readonly groups: Iterable<number>;
}

/** The side of an op and its grad nodes: marks belong to the op or to the grad nodes. */
export type MarkSide = "ops" | "grad_nodes";

/** The order in which marks are shown if a box has several. */
const ROLE_ORDER: readonly MarkRole[] = ["failed", "cut", "origin", "here", "path", "related"];
/** Marks that are shown on both sides: at the op and at its grad nodes. */
const TELLING: ReadonlySet<MarkRole> = new Set(["failed", "cut", "origin", "here"]);
const OTHER_SIDE = { ops: "grad_nodes", grad_nodes: "ops" } as const;
const DETACH = EDGE_KINDS.indexOf("detach");
const NONE: readonly Mark[] = [];

export class Findings {
  readonly all: readonly Finding[];
  readonly #ofOp = new Map<number, Mark[]>();
  readonly #ofGradNode = new Map<number, Mark[]>();
  readonly #ofOpGroup = new Map<number, Mark[]>();
  readonly #ofGradNodeGroup = new Map<number, Mark[]>();
  readonly #cutBehind = new Map<number, Mark>();
  #tellsOfFailure = false;

  constructor(
    readonly trace: Trace,
    readonly hierarchy: Hierarchy,
  ) {
    this.all = Array.from({ length: trace.table("findings").length }, (_, key) => ({
      key,
      kind: trace.textAt("findings", "kind", key),
      severity: SEVERITIES[trace.at("findings", "severity", key)]!,
      message: trace.textAt("findings", "message", key),
      advice: trace.textAt("findings", "advice", key),
      file: trace.at("findings", "file", key),
      line: trace.at("findings", "line", key),
      cell: trace.at("findings", "cell", key),
      op: trace.at("findings", "op", key),
      gradNode: trace.at("findings", "grad_node", key),
    }));
    for (let row = 0; row < trace.table("finding_marks").length; row++) {
      const finding = this.all[trace.at("finding_marks", "finding", row)];
      if (finding) {
        const role = MARK_ROLES[trace.at("finding_marks", "role", row)]!;
        const op = trace.at("finding_marks", "op", row);
        const gradNode = trace.at("finding_marks", "grad_node", row);
        // If the finding has an op and the grad node that it made, mark only the grad node.
        const isPair = gradNode >= 0 && trace.at("grad_nodes", "op", gradNode) === op;
        this.#put(finding, role, isPair ? -1 : op, gradNode);
      }
    }
    for (const finding of this.all) {
      const isMarked = has(this.#ofOp.get(finding.op), finding);
      const isNodeMarked = has(this.#ofGradNode.get(finding.gradNode), finding);
      this.#put(finding, "here", isMarked ? -1 : finding.op, isNodeMarked ? -1 : finding.gradNode);
    }
  }

  /** Whether a finding explains the failure of a backward call better than the error itself. */
  get tellsOfFailure(): boolean {
    return this.#tellsOfFailure;
  }

  /** The number of findings of each severity, the worst first, without zeros. */
  counts(): { severity: Severity; count: number }[] {
    return SEVERITIES.map((severity) => ({
      severity,
      count: this.all.filter((finding) => finding.severity === severity).length,
    })).filter(({ count }) => count > 0);
  }

  /**
   * The marks of an op, grad node or group, the most important first.
   *
   * @param withPair whether to add important marks of the other side, for a picture that shows only
   * one side
   */
  marksOf(thing: MarkedThing, side: MarkSide, withPair: boolean): readonly Mark[] {
    if (!this.all.length) {
      return NONE;
    }
    const [own, other] = [this.#of(thing, side), this.#of(thing, OTHER_SIDE[side])];
    const found = new Set<Mark>(own);
    for (const mark of withPair ? other : NONE) {
      if (TELLING.has(mark.role)) {
        found.add(mark);
      }
    }
    return [...found].sort(moreTelling);
  }

  /** The cut that stops the gradient flow from a grad node to the next grad nodes. */
  cutBehind(gradNode: number): Mark | undefined {
    return this.#cutBehind.get(gradNode);
  }

  /**
   * Store a cut at the grad nodes where gradients end: those of the ops that read the cut op's
   * outputs.
   */
  #noteCut(op: number, mark: Mark): void {
    const { trace } = this;
    const leaving = [...trace.edgesFrom(op)];
    const detached = leaving.filter((edge) => trace.at("op_edges", "kind", edge) === DETACH);
    for (const edge of detached.length ? detached : leaving) {
      const reader = trace.at("op_edges", "target", edge);
      for (const node of reader >= 0 ? trace.gradNodesOfOp(reader) : []) {
        const isReached = Array.from(trace.gradEdgesFrom(node)).some((gradEdge) => {
          const to = trace.at("grad_edges", "target", gradEdge);
          return to >= 0 && trace.at("grad_nodes", "op", to) === op;
        });
        if (!isReached && !this.#cutBehind.has(node)) {
          this.#cutBehind.set(node, mark);
        }
      }
    }
  }

  #of(thing: MarkedThing, side: MarkSide): readonly Mark[] {
    const isOps = side === "ops";
    if (thing.op < 0 && thing.gradNode < 0) {
      const ofGroup = isOps ? this.#ofOpGroup : this.#ofGradNodeGroup;
      return Array.from(thing.groups).flatMap((group) => ofGroup.get(group) ?? NONE);
    }
    if (isOps) {
      const op = thing.op >= 0 ? thing.op : this.trace.at("grad_nodes", "op", thing.gradNode);
      return this.#ofOp.get(op) ?? NONE;
    }
    const nodes = thing.gradNode >= 0 ? [thing.gradNode] : this.trace.gradNodesOfOp(thing.op);
    return Array.from(nodes).flatMap((node) => this.#ofGradNode.get(node) ?? NONE);
  }

  #put(finding: Finding, role: MarkRole, op: number, gradNode: number): void {
    this.#tellsOfFailure ||= role === "failed";
    const mark = { finding, role };
    if (op >= 0) {
      push(this.#ofOp, op, mark);
      if (role === "cut") {
        this.#noteCut(op, mark);
      }
      this.#around(this.hierarchy.groupOfOp[op]!, this.#ofOpGroup, mark);
    }
    if (gradNode >= 0) {
      push(this.#ofGradNode, gradNode, mark);
      this.#around(this.hierarchy.groupOfGradNode[gradNode]!, this.#ofGradNodeGroup, mark);
    }
  }

  /** A closed group shows the marks inside it, one for each finding and role. */
  #around(group: number, marks: Map<number, Mark[]>, mark: Mark): void {
    for (let at = group; at >= 0; at = this.hierarchy.parents[at]!) {
      const isAlike = ({ finding, role }: Mark): boolean =>
        finding === mark.finding && role === mark.role;
      if (!marks.get(at)?.some(isAlike)) {
        push(marks, at, mark);
      }
    }
  }
}

function moreTelling(a: Mark, b: Mark): number {
  const severity = (mark: Mark): number => SEVERITIES.indexOf(mark.finding.severity);
  const role = (mark: Mark): number => ROLE_ORDER.indexOf(mark.role);
  return severity(a) - severity(b) || role(a) - role(b) || a.finding.key - b.finding.key;
}

function has(marks: readonly Mark[] | undefined, finding: Finding): boolean {
  return !!marks?.some((mark) => mark.finding === finding);
}

function push(map: Map<number, Mark[]>, key: number, mark: Mark): void {
  const list = map.get(key);
  if (list) {
    list.push(mark);
  } else {
    map.set(key, [mark]);
  }
}
