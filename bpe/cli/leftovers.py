"""What an earlier ``bpe encode -o`` left that was not completed, and that no command will look at."""

from __future__ import annotations

from pathlib import Path

import click


def tell_of_others(output: str) -> None:
    """Name the files of ids in the folder of an output that are not complete; nothing is removed.

    Those that another process is writing are not named, where the system has locks.
    """
    from bpe.corpus.locks import is_locked
    from bpe.id_files.checkpoint import state_of
    from bpe.id_files.output import offsets_path, part_of

    ours = Path(output)
    for note in sorted(ours.parent.glob("*.state")):
        other = note.with_suffix("")
        parts = [part_of(other), part_of(offsets_path(other)), note]
        is_left = other != ours and all(map(Path.is_file, parts)) and not any(map(is_locked, parts))
        if is_left and state_of(note.read_bytes()):
            names = ", ".join(map(str, parts))
            click.echo(
                f"{other}: not complete: if no other run is writing it, give its command again to complete "
                f"it, or remove {names}",
                err=True,
            )
