"""BokehJS as one script for a page without Jupyter; the front end's loader finds it there."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "labextension" / "static"
_EXPORT = "export default main;"


def bokeh_script() -> str:
    """Return BokehJS as a classic script, which puts itself beside whatever ``Bokeh`` is there.

    Raises
    ------
    FileNotFoundError
        If this installation lacks its built front end.
    """
    found = sorted(_FOLDER.glob("bokeh-*/bokeh.esm.min.js"))
    if not found:
        raise FileNotFoundError(
            "this installation of paddle_lab lacks BokehJS: install the wheel, or run "
            "`npm install && npm run build` in the js folder of a source checkout"
        )
    body, _, rest = found[-1].read_text(encoding="utf-8").rpartition(_EXPORT)
    # The loader in js/src/charts/bokeh_loader.ts looks for globalThis.Bokeh[version].
    return f"(() => {{{body}(globalThis.Bokeh ??= {{}})[main.version] = main;{rest}\n}})();"
