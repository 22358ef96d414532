"""``python -m paddle_lab.words``: sort the tables by key, and format them in the same way."""

from __future__ import annotations

import json
from pathlib import Path

for file in Path(__file__).with_name("tables").glob("*.json"):
    table = json.loads(file.read_text(encoding="utf-8"))
    text = json.dumps(table, ensure_ascii=False, indent=2, sort_keys=True)
    file.write_text(f"{text}\n", encoding="utf-8")
