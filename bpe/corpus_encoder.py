"""Corpora to files: the methods of a :class:`bpe.Tokenizer` that encode more text than fits in memory."""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING, Any

from bpe.splitting.specials import Rules, SpecialOptions
from bpe.stored_tokenizer import PathLike, StoredTokenizer
from bpe.support.progress import Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bpe.corpus import CorpusLike
    from bpe.id_files.encode import EncodedFiles
    from bpe.id_files.formats import IdFormat
    from bpe.id_files.shards import EncodedShards


class CorpusEncoder(StoredTokenizer):
    """What a tokenizer has to do with corpora."""

    def _rules(self, method: str, special: SpecialOptions) -> Rules:
        """Return the rules of a call; a TypeError names the method that was called."""
        for name in special:
            if name not in SpecialOptions.__annotations__:
                own = inspect.signature(getattr(self, method)).parameters.keys() - {"special"}
                close = difflib.get_close_matches(name, [*own, *SpecialOptions.__annotations__], n=1)
                hint = f". Did you mean {close[0]!r}?" if close else ""
                raise TypeError(f"Tokenizer.{method}() got an unexpected keyword argument {name!r}{hint}")
        return self.engine.rules_of(**special)

    def encode_files(
        self,
        corpus: CorpusLike,
        out: PathLike,
        *,
        to: IdFormat | None = None,
        end_token: str | None = None,
        dtype: Any = None,
        threads: int | None = None,
        progress: Progress = False,
        **special: Unpack[SpecialOptions],
    ) -> EncodedFiles:
        """Encode a corpus to a file of ids, with the offsets of its documents in a file beside it.

        With the suffix .npy, `out` is a numpy array; else, as in .bin, only the ids, little-endian. Beside it
        comes ``<out without suffix>.offsets.npy``: ids ``offsets[k]`` to ``offsets[k + 1]`` are document k.
        Files .parquet and .arrow are tables with a row for each document (:mod:`bpe.id_files.tables`), and
        need the extra ``parquet``. The same call resumes a run that was killed or interrupted, if the corpus
        is the same. No file is at its place before it is complete. Offsets of another file of ids are not
        replaced: a FileExistsError. A file that is read is not replaced, either: a ValueError.

        Parameters
        ----------
        to : {"bin", "npy", "nanogpt", "megatron", "parquet", "arrow"}, optional
            The format; by default, that of the suffix. "megatron", or the suffix .idx, writes a .bin with its
            .idx; "nanogpt" a .bin with a token after each document.
        end_token : str, optional
            The special token that follows each document; for nanoGPT, ``<|endoftext|>`` by default.
        dtype : numpy dtype, optional
            uint16 or uint32; by default the smallest that all ids fit.
        progress : bool or callable
            True: a bar on stderr. A callable is called with the bytes that are read, and all there are.

        Examples
        --------
        >>> import bpe, tempfile, pathlib, numpy
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = tok.encode_files(["low", "lower"], pathlib.Path(folder, "corpus.bin"))
        ...     numpy.fromfile(written.ids, written.dtype), numpy.load(written.offsets)
        (array([257, 257, 101, 114], dtype=uint16), array([0, 1, 4]))
        """
        from bpe.id_files.encode import encode_files

        return encode_files(
            self.engine,
            corpus,
            out,
            self._rules("encode_files", special),
            to=to,
            end_token=end_token,
            dtype=dtype,
            threads=threads,
            progress=progress,
        )

    def encode_shards(
        self,
        corpus: CorpusLike,
        folder: PathLike,
        *,
        to: IdFormat | None = None,
        end_token: str | None = None,
        dtype: Any = None,
        threads: int | None = None,
        scheduler: Any = None,
        progress: Progress = False,
        **special: Unpack[SpecialOptions],
    ) -> EncodedShards:
        """Encode each file of a corpus to files of its own, by the same names; else as :meth:`encode_files`.

        ``folder/shards.jsonl`` lists the shards that are complete. The same call skips them, goes on with the
        others, and encodes those again whose source has changed. With other options it is a ValueError.

        Parameters
        ----------
        scheduler : dask.distributed.Client or str, optional
            Encode on the workers of a cluster, which see the same files by the same names.

        Examples
        --------
        >>> import bpe, tempfile, pathlib
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "a.txt").write_text("lower")
        ...     done = tok.encode_shards([pathlib.Path(folder, "a.txt")], pathlib.Path(folder, "ids"))
        ...     sorted(path.name for path in done.folder.iterdir()), done.n_tokens
        (['a.txt.bin', 'a.txt.offsets.npy', 'shards.jsonl'], 3)
        """
        from bpe.id_files.shards import encode_shards

        self._rules("encode_shards", special)  # raises here, not in a worker
        return encode_shards(
            self.engine,
            corpus,
            folder,
            dict(special),
            to=to,
            end_token=end_token,
            dtype=dtype,
            threads=threads,
            scheduler=scheduler,
            progress=progress,
        )
