"""``bpe.warmup``: what is used in this process."""

import bpe
from bpe import first_use


def test_warmup(monkeypatch):
    """All is used; what that compiles, the test of the command checks."""
    used = []
    monkeypatch.setattr(first_use, "use_training", lambda: used.append("training"))
    monkeypatch.setattr(first_use, "use_encoding", lambda: used.append("encoding"))
    bpe.warmup()
    assert used == ["training", "encoding"]
