"""Warnings name the line of the caller, however deep they come from."""

import bpe
from bpe.formats import tiktoken
from bpe.splitting import pattern


def test_the_caller_is_named(tmp_path, recwarn):
    tiktoken._warn_without_special_tokens.cache_clear()  # both warn once
    pattern._scanner.cache_clear()
    bpe.train(["low"], 256, progress=False).save_tiktoken(tmp_path / "own.tiktoken")
    bpe.Tokenizer.load(tmp_path / "own.tiktoken", pattern="gpt2")
    bpe.Pattern.of(r"(?>ab|a)c|(?m:.)").split("abc")
    assert [warning.filename for warning in recwarn] == [__file__] * 2
