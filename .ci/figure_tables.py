"""Write what ``.ci/figures`` has measured as tables that the pages include.

    python .ci/figure_tables.py FOLDER docs/tables

FOLDER is that of ``.ci/figures``. Only files of commands that a page includes are written: those that are in
docs/tables already.
"""

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path


def cells(row: str) -> list[str]:
    """Return the cells of a row of Markdown."""
    of_row = row.strip()[1:-1].replace("\\", "\\\\").split("|")
    return [re.sub("`([^`]*)`", r"``\1``", cell.strip()) for cell in of_row]


def table(rows: list[str]) -> Iterator[str]:
    """Yield the lines of a table; its second row is the line under the header."""
    yield from (".. list-table::", "   :header-rows: 1", "")
    for row in rows[:1] + rows[2:]:
        for i, cell in enumerate(cells(row)):
            yield f"   {'* -' if i == 0 else '  -'} {cell}".rstrip()


def page(text: str) -> str:
    """Return the output of a command, which begins with the command itself, as reStructuredText."""
    command, _, output = text.partition("\n")
    lines = [f"``{command.strip('`')}``", ""] if " " in command else []  # else it is no command for others
    for kind, group in groupby(output.strip().splitlines(), lambda line: (line[:1] == "|", bool(line))):
        block = list(group)
        if kind[0]:
            lines += table(block)
        elif any(re.search(r"\S  +\S", line) for line in block):  # in columns
            lines += [".. code-block:: none", "", *(f"   {line}" for line in block)]
        elif kind[1]:
            lines += [f"* {line}" for line in block]
        if kind[1]:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main(measured: Path, tables: Path) -> None:
    """Write the tables that are there already anew."""
    for old in sorted(tables.glob("*.inc")):
        new = measured / f"{old.stem}.md"
        if new.exists():
            old.write_text(page(new.read_text("utf-8")), "utf-8")
        else:
            print(f"{new} is missing: {old} stays as it is", file=sys.stderr)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
