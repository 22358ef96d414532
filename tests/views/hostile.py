"""A trace in which every text tries to be markup, a script or worse."""

from __future__ import annotations

from paddle_lab.trace.record import Record
from tests.trace.records import RecordWriter

SCRIPT = "</script></svg></style><script>document.title='owned'</script>"
IMAGE = "<img src=x onerror=\"document.title='owned'\">"
COMMENT = "<!-- ]]> --> ' onload='document.title=1' \" onclick=\"document.title=1\""
CONTROL = "nul \0 bell \7 escape \x1b ffff \uffff right-to-left \u202e"
TEXTS = (SCRIPT, IMAGE, COMMENT, CONTROL)


def hostile_record() -> Record:
    w = RecordWriter()
    w.origin.title = SCRIPT
    w.origin.exception = IMAGE
    w.origin.device = COMMENT
    w.origin.paddle_lab = SCRIPT
    w.origin.notices = list(TEXTS)
    w.row("sources", file="cell", cell=4, first_line=1, text="\n".join(TEXTS))
    x = w.tensor(IMAGE, kind="external")
    for text in TEXTS:
        with w.layer(text, text), w.call(text, line=1, file=text), w.scope("region", text):
            x = w.op(text, x, w.parameter(f"a.{text}"), line=2, attributes=text, shape=(1, 2))
            w.op(text, x, line=3, in_place=x)
        node = w.grad_node(text, w.producer(x))
        w.backward(node, error=text)
    record = w.record()
    # Shapes and dtypes are texts as well.
    record.strings.append(SCRIPT)
    record.tensors.columns["shape"][:] = len(record.strings) - 1
    record.tensors.columns["dtype"][:] = len(record.strings) - 1
    return record
