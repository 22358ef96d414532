"""Thin widgets around the front end; the only views that import Jupyter's packages."""
