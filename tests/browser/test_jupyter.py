"""The package can be imported in kernels of both applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook


def test_the_package_can_be_imported(jupyter_page: OpenNotebook) -> None:
    notebook = jupyter_page(notebook_of("import paddle_lab\npaddle_lab.__version__"))
    notebook.run_all()
    assert notebook.errors() == []
    assert notebook.output_text(0) == "'0.1.0'"
