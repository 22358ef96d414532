"""A run of several ranks as HTML: its findings, and a row for each collective.

It uses tables with inline styles, because JupyterLab removes style sheets and scripts from outputs.
"""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from paddle_lab.analysis.tables.text_table import sentence_html
from paddle_lab.runs.collectives import Collective, Collectives, waited_for
from paddle_lab.runs.finding import RunFinding, place_said, ranks_said
from paddle_lab.runs.rank_log import Place, RankLog
from paddle_lab.views.text.run_tables import data_of, described, group_said
from paddle_lab.words import say

_MOST_RUNGS: Final = 300
_MOST_RANKS: Final = 16
_MOST_SOURCE: Final = 100
_MOST_WAITED_FOR: Final = 3
_SHOWN_NS: Final = 500_000
_LEFT: Final = "text-align: left; vertical-align: top; padding: 2px 10px; white-space: nowrap"
_NUMBER: Final = "text-align: right; vertical-align: top; padding: 2px 10px"
# As wide as the page: a wider table scrolls.
_WIDE: Final = "overflow-x: auto; width: 0; min-width: 100%"
_WRAPPED: Final = "white-space: normal; min-width: 8em"
_ODD: Final = f"{_LEFT}; border-left: 3px solid #c62828; padding-left: 7px"


def run_content(
    logs: Sequence[RankLog],
    alive: Mapping[int, bool],
    collectives: Collectives,
    findings: Sequence[RunFinding],
    world: int,
    newest: int = 0,
) -> str:
    """Return a run as HTML for a notebook's output or for a page.

    Parameters
    ----------
    alive
        Whether the process of each rank is running.
    world
        How many ranks the job has.
    newest
        How many of the newest collectives to show, for a run that is not finished; 0 shows a whole
        run.
    """
    key = "runs.live.head" if newest else "runs.summary"
    head = say(key, n=len(logs), world=world, calls=len(collectives))
    parts = [f"<p><b>{escape(head)}</b></p>"]
    none = "" if newest else f"<p>{say('runs.no_findings')}</p>"
    parts += [_finding(finding) for finding in findings] or [none]
    notices = dict.fromkeys(text for log in logs for text in log.about.get("notices", ()))
    parts += [f"<p>{escape(text)}</p>" for text in notices]
    parts.append(_ranks(logs, alive, collectives))
    parts.append(_rungs(logs, alive, collectives, findings, newest))
    return f'<div style="line-height: 1.4; white-space: normal">{"".join(parts)}</div>'


def _finding(finding: RunFinding) -> str:
    rows = "".join(
        f'<tr><td style="{_ODD if ranks[0] in finding.ranks else _LEFT}; {_WRAPPED}">'
        f'{ranks_said(ranks)}</td><td style="{_LEFT}">{_placed(place)}</td></tr>'
        for ranks, place in finding.rows[:_MOST_RANKS]
    )
    places = f'<div style="{_WIDE}"><table>{rows}</table></div><br>' if rows else ""
    return (
        f"<p><b>{say(f'page.severity.{finding.severity}')}</b> {sentence_html(finding.message)}"
        f"<br>{sentence_html(finding.advice)}</p>{places}"
    )


def _placed(place: Place) -> str:
    """Return a place and, if the file is on this machine, the text of the line."""
    source = linecache.getline(*place).strip()[:_MOST_SOURCE] if place[1] else ""
    return f"<code>{escape(place_said(place))}</code>" + (
        f'</td><td style="{_LEFT}"><code style="white-space: pre">{escape(source)}</code>'
        if source
        else ""
    )


def _ranks(logs: Sequence[RankLog], alive: Mapping[int, bool], collectives: Collectives) -> str:
    """Return a table of the ranks: state, time of waiting, ranks they waited for, current lines."""
    waited = waited_for(collectives.channels)
    names = ("rank", "waited", "waited_for", "now")
    head = "".join(f'<th style="{_LEFT}">{say(f"runs.column.{name}")}</th>' for name in names)
    longest_ns = max((sum(one.values()) for one in waited.values()), default=0)
    rows = []
    for log in logs[:_MOST_RANKS]:
        times = waited.get(log.rank, Counter())
        total_ns = sum(times.values())
        width = round(80 * total_ns / max(longest_ns, 1))
        bar = (
            f'<div style="display: inline-block; width: {width}px; height: 8px; '
            f'background: #d08770; margin-right: 6px"></div>'
        )
        whom = ", ".join(
            f"{say('runs.rank', rank=rank)} {_milliseconds(time_ns)}"
            for rank, time_ns in times.most_common(_MOST_WAITED_FOR)
            if time_ns >= _SHOWN_NS
        )
        cells = (
            f"{say('runs.rank', rank=log.rank)}, {_state(log, alive)}",
            f"{bar}{_milliseconds(total_ns)}",
            whom,
            _placed(log.place),
        )
        rows += ["<tr>", *(f'<td style="{_LEFT}">{cell}</td>' for cell in cells), "</tr>"]
    return (
        f'<div style="{_WIDE}"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
        f"<p>{say('runs.waited.legend')}</p>"
    )


def _milliseconds(time_ns: int) -> str:
    return f"{time_ns / 1e6:,.0f} ms"


def _rungs(
    logs: Sequence[RankLog],
    alive: Mapping[int, bool],
    collectives: Collectives,
    findings: Sequence[RunFinding],
    newest: int,
) -> str:
    shown, most = logs[:_MOST_RANKS], newest or _MOST_RUNGS
    first = max(0, len(collectives) - most)
    if not newest:  # show the first finding
        begun_ns = next((finding.time_ns for finding in findings if finding.time_ns), 0)
        first = max(0, min(first, collectives.count_before(begun_ns) - most // 2))
    names = [say(f"runs.column.{name}") for name in ("group", "sequence", "op", "what", "line")]
    head = "".join(f'<th style="{_LEFT}">{name}</th>' for name in names) + "".join(
        f'<th style="{_LEFT}">{say("runs.rank", rank=log.rank)}</th>' for log in shown
    )
    rows = "".join(_rung(one, shown, alive) for one in collectives[first : first + most])
    more = 0 if newest else len(collectives) - most
    note = f"<p>{say('runs.more', n=more)}</p>" if more > 0 else ""
    hidden = len(logs) - len(shown)
    note += f"<p>{say('runs.more_ranks', n=hidden)}</p>" if hidden > 0 else ""
    table = f"<table><tr>{head}</tr>{rows}</table>"
    return f'<div style="{_WIDE}">{table}</div><p>{say("runs.legend")}</p>{note}'


def _rung(one: Collective, logs: Sequence[RankLog], alive: Mapping[int, bool]) -> str:
    waits, usual, op = one.waited_ns, one.calls[min(one.calls)], one.op
    place = Counter(call.place for call in one.calls.values()).most_common(1)[0][0]
    cells = [
        f'<td style="{_NUMBER}">{group_said(one)}</td>',
        f'<td style="{_NUMBER}">{one.sequence}</td>',
        f'<td style="{_LEFT}"><code>{escape(op)}</code></td>',
        f'<td style="{_LEFT}">{escape(described(one))}</td>',
        f'<td style="{_LEFT}"><code>{escape(place_said(place))}</code></td>',
    ]
    for log in logs:
        call = one.calls.get(log.rank)
        if call is None:
            key = "not_yet" if alive[log.rank] else "absent"
            text = say(f"runs.{key}") if log.rank in one.ranks else ""
            cells.append(f'<td style="{_ODD if text and key == "absent" else _LEFT}">{text}</td>')
            continue
        is_waiting = call.is_open and alive[log.rank] and not call.error
        told = f"<code>{escape(place_said(call.place))}</code>" if call.place != place else ""
        is_odd = one.channel is None and (call.op != op or data_of(call) != data_of(usual))
        differing = f"{call.op} {data_of(call)}" if call.op != op else data_of(call)
        told += f" <b>{escape(differing)}</b>" * is_odd
        if call.is_open:
            told += f" <b>{say('runs.waiting' if is_waiting else 'runs.open')}</b>"
        else:
            told += f" {_milliseconds(waits[log.rank])}"
        is_marked = is_odd or (call.is_open and not is_waiting)
        cells.append(f'<td style="{_ODD if is_marked else _LEFT}">{told}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _state(log: RankLog, alive: Mapping[int, bool]) -> str:
    if log.exit is not None:
        return escape(say("runs.exit", code=log.exit["code"]))
    return say("runs.running" if alive[log.rank] else "runs.gone")
