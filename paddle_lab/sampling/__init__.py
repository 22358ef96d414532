"""Counters of memory read at a steady rate by a thread, kept in bounded room; no Paddle here."""

from paddle_lab.sampling.counter import ABSENT, Counter, Source
from paddle_lab.sampling.sampler import Sampler

__all__ = ["ABSENT", "Counter", "Sampler", "Source"]
