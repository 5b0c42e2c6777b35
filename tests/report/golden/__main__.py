"""`python -m tests.report.golden` writes the expected documents again; read the difference before you commit it."""

from __future__ import annotations

from tests.report.golden.documents import FOLDER, documents

for name, text in documents().items():
    (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
