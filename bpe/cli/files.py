"""``bpe inspect``, ``vocab``, ``diff``, ``convert``: show or compare tokenizers, write other formats."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe.cli.app import (
    STDOUT,
    keep_tokenizer,
    load,
    main,
    name_of_output,
    need_output,
    only_one_to_stdout,
)
from bpe.cli.count import counted
from bpe.cli.options import PATTERN_HELP, PatternType, pattern_dialect
from bpe.cli.progress import Stopwatch, human
from bpe.cli.show import entries_of, shown_tokens
from bpe.formats import FORMATS, READ_ONLY
from bpe.vocabulary.extras import ROLES

if TYPE_CHECKING:
    from bpe.splitting.pattern import Dialect, Pattern
    from bpe.tokenizer import Tokenizer
    from bpe.vocabulary.vocabulary import Vocabulary


# --------------------------------------------------------------------------------------------- inspect
@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def inspect(tokenizer: str, paths: tuple[str, ...], as_json: bool) -> None:
    """Show what is in a tokenizer, and how many tokens texts have.

    A PATH is as in bpe encode. Special tokens in the text are encoded as special tokens.

    \b
    Example:
      bpe inspect tok.json letter.txt
      bpe inspect tok.json --json
    """  # noqa: D301
    from bpe.corpus import Corpus
    from bpe.ids import fingerprint

    loaded = load(tokenizer)
    corpus = Corpus([Path(path) for path in paths])
    # Before anything is printed, as it may fail.
    texts = counted(loaded, corpus, {"allowed_special": "all"}) if paths else []
    if as_json:
        figures = {
            "vocab_size": loaded.vocab_size,
            "merges": len(loaded.merges),
            "special_tokens": loaded.special_tokens,
            "pattern": loaded.pattern.spec,
            "fingerprint": fingerprint(loaded),
        }
        if loaded.added_tokens:
            figures["added_tokens"] = loaded.added_tokens
        if texts:
            figures["texts"] = [each.to_json() for each in texts]
        click.echo(json.dumps(figures))
        return
    for line in [*_describe(loaded), f"fingerprint: {fingerprint(loaded)}"]:
        click.echo(line)
    for each in texts:
        per_token = f", {each.n_bytes / each.n_tokens:.3f} bytes a token" if each.n_tokens else ""
        name = each.name or "standard input"
        click.echo(f"on {name}: {human(each.n_bytes, 'B')}, {human(each.n_tokens)} tokens{per_token}")


def _describe(tokenizer: Tokenizer) -> list[str]:
    """Return lines about a vocabulary, with the longest tokens, the first merges and the last ones."""
    n = 10  # of each
    merges, specials = tokenizer.merges, tokenizer.special_tokens

    def made(rank: int) -> str:
        left, right = merges[rank]
        return f"  {rank:>6}  {tokenizer.token_bytes(left)!r} + {tokenizer.token_bytes(right)!r}"

    longest = sorted(
        {tokenizer.token_bytes(a) + tokenizer.token_bytes(b) for a, b in merges}, key=lambda t: (-len(t), t)
    )
    pattern = tokenizer.pattern.spec
    return [
        f"vocabulary: {tokenizer.vocab_size} ids, {len(merges)} merges, {len(specials)} special tokens",
        f"pattern: {pattern if isinstance(pattern, str) else ' then '.join(pattern)}",
        *(f"special token {token_id}: {token!r}" for token, token_id in specials.items()),
        *(f"added token {token_id}: {token!r}" for token, token_id in tokenizer.added_tokens.items()),
        "longest tokens:",
        *(f"  {tokenizer.token_id(token):>6}  {token!r}" for token in longest[:n]),
        "first merges:",
        *map(made, range(min(n, len(merges)))),
        "last merges:",
        *map(made, range(max(0, len(merges) - n), len(merges))),
    ]


# ----------------------------------------------------------------------------------------------- vocab
@main.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.option("--json", "as_json", is_flag=True, help="Print a list of ids and tokens as JSON.")
def vocab(tokenizer: str, as_json: bool) -> None:
    """Print the tokens, one per line, in the order of their ids.

    A line has the id, a tab, and the token. A part of a character is shown as bytes, such as <E2>.

    \b
    Example:
      bpe vocab tok.json | tail
      bpe vocab tok.json --json > tokens.json
    """  # noqa: D301
    loaded = load(tokenizer)
    tokens = loaded.vocab
    if as_json:
        click.echo(json.dumps([*entries_of(loaded, tokens)], ensure_ascii=False))
        return
    for token_id, token in zip(tokens, shown_tokens([*tokens.values()]), strict=True):
        click.echo(f"{token_id}\t{token}")


# ------------------------------------------------------------------------------------------------ diff
@main.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
def diff(first: str, second: str) -> None:
    """Show how two tokenizers differ; the exit code is 1 if they do.

    If a text is found that they encode differently, it is shown.

    \b
    Example:
      bpe diff tok.json tokenizer.json
    """  # noqa: D301
    from bpe.ids import differences

    found = differences(load(first), load(second))
    click.echo(str(found))
    if found:
        click.get_current_context().exit(1)


# --------------------------------------------------------------------------------------------- convert
@main.command()
@click.argument("source", metavar="IN")
@click.argument("output", metavar="OUT")
@click.option(
    "--from",
    "source_format",
    type=click.Choice(FORMATS + READ_ONLY),
    help="The format of IN. By default, it is recognized.",
)
@click.option(
    "--to",
    "output_format",
    type=click.Choice(FORMATS),
    help="The format of OUT. By default, its name decides.",
)
@click.option(
    "--pattern",
    type=PatternType(),
    metavar="NAME|REGEX",
    help=f"For a rank file that is not a published one. {PATTERN_HELP}",
)
@pattern_dialect
@click.option(
    "--special-token",
    "specials",
    multiple=True,
    metavar="TOKEN=ID",
    help="A special token, for a rank file. By default, those of a published file. May be repeated.",
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="ROLE=TOKEN",
    help=f"For the folder of a model: a special token with a role ({', '.join(ROLES)}). May be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
def convert(
    source: str,
    output: str,
    source_format: str | None,
    output_format: str | None,
    pattern: str | None,
    dialect: Dialect,
    specials: tuple[str, ...],
    roles: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write a tokenizer in another format.

    \b
    native         any other .json
    huggingface    tokenizer.json, *.hf.json; with --to, also the folder of a model
    tiktoken       *.tiktoken, only ranks; the patterns and special tokens of published files (r50k_base,
                   cl100k_base, o200k_base, Llama 3, ...) are known
    gpt2           a folder, or vocab.json (with merges.txt beside it)
    minbpe         *.model
    sentencepiece  *.model, of type BPE; read only
    tekken         tekken.json; read only
    npm            JSON with bpe_ranks, as npm's tiktoken has; read only

    The new file is read again, also with tiktoken or tokenizers if they are installed. It must give the same
    ids for a test text with characters of every kind: only then does OUT appear. A tokenizer that the format
    cannot hold is refused. If OUT is -, the file is written to standard output, which requires --to.

    \b
    Example:
      bpe convert tok.json tokenizer.json
      bpe convert cl100k_base.tiktoken tok.json
      bpe convert mine.tiktoken tok.json --pattern cl100k --special-token '<|end|>=50000'
      bpe convert tokenizer.json ranks.tiktoken
      bpe convert tok.json my-model --to huggingface --role 'eos=<|end|>' --role 'pad=<|end|>'
    """  # noqa: D301
    only_one_to_stdout(output, as_json)
    from bpe.formats.conversion import differences, guess_format, naming, write
    from bpe.formats.model_folder import is_folder as is_folder_of_model
    from bpe.formats.model_folder import with_config

    watch = Stopwatch()
    with naming(source):
        vocabulary, split_by = _parts_of(
            source, source_format, pattern, dict(map(_special, specials)), dialect
        )
    with naming(output):
        try:
            write_as = output_format or guess_format(output)
        except ValueError as error:
            raise ValueError(f"{error}: choose one with --to") from None
        if roles and (write_as != "huggingface" or output == STDOUT):
            raise ValueError("--role is for the folder of a model: choose a folder, and --to huggingface")
        vocabulary = with_config(vocabulary, output, dict(map(_role, roles)))
    is_folder = write_as == "gpt2" and Path(output).name != "vocab.json"
    is_folder |= write_as == "huggingface" and output != STDOUT and is_folder_of_model(output)
    need_output(output, is_folder=is_folder)
    if output != STDOUT:
        names = {"gpt2": "vocab.json", "huggingface": "tokenizer.json"}
        keep_tokenizer(source, Path(output, names[write_as]) if is_folder else output)
    with naming(output), tempfile.TemporaryDirectory() as folder:
        trial = Path(folder, "trial" if is_folder else "trial.json")
        write(vocabulary, split_by, trial, write_as)
        if problem := differences(vocabulary, split_by, trial, write_as):
            raise ValueError(f"{problem}. Nothing was written")
        if output == STDOUT:
            sys.stdout.buffer.write(trial.read_bytes())
        else:
            write(vocabulary, split_by, output, write_as)
    if as_json:
        click.echo(json.dumps(_summary(source, output, write_as, vocabulary, watch)))
        return
    click.echo(f"{name_of_output(output)}: {vocabulary.size} tokens as {write_as}, checked", err=True)
    if write_as == "tiktoken":
        options = [f"--pattern {split_by.name}"]
        special = vocabulary.cut_tokens
        options += [f"--special-token '{token}={token_id}'" for token, token_id in special.items()]
        click.echo(f"The file holds only ranks. To read it: {' '.join(options)}", err=True)


def _summary(
    source: str, output: str, format: str, vocabulary: Vocabulary, watch: Stopwatch
) -> dict[str, Any]:
    return {
        "input": source,
        "output": output,
        "format": format,
        "tokens": vocabulary.size,
        "merges": len(vocabulary.merges),
        "special_tokens": vocabulary.cut_tokens,
        **watch.to_json(),
    }


def _parts_of(
    source: str, format: str | None, pattern: str | None, special_tokens: dict[str, int], dialect: Dialect
) -> tuple[Vocabulary, Pattern]:
    """Return the vocabulary and the pattern in a file; an error about a missing pattern names --pattern."""
    from bpe.formats.conversion import PatternNeeded
    from bpe.formats.conversion import read as read_parts
    from bpe.formats.recognition import open_parts

    given: dict[str, Any] = {"pattern": pattern, "special_tokens": special_tokens or None, "dialect": dialect}
    try:
        return read_parts(source, format, **given) if format else open_parts(source, **given)
    except PatternNeeded:
        raise ValueError(
            "a rank file has no split pattern: add --pattern, such as cl100k for cl100k_base"
        ) from None


def _special(option: str) -> tuple[str, int]:
    token, _, token_id = option.rpartition("=")
    if not token or not (token_id.isascii() and token_id.isdecimal() and len(token_id) <= 10):
        raise ValueError(f"--special-token {option!r} is not TOKEN=ID")
    return token, int(token_id)


def _role(option: str) -> tuple[str, str]:
    role, _, token = option.partition("=")
    if role not in ROLES or not token:
        raise ValueError(f"--role {option!r} is not ROLE=TOKEN: roles are {', '.join(ROLES)}")
    return f"{role}_token", token
