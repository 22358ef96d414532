"""Sentences in the languages that findings speak."""

from __future__ import annotations

from dataclasses import dataclass

from paddle_lab.words import Language


@dataclass(frozen=True)
class Text:
    """One text in English and in Chinese."""

    en: str
    zh: str

    def in_language(self, language: Language) -> str:
        """Return the text in one language."""
        return self.zh if language == "zh" else self.en
