r"""Scripts of characters: the expression that cuts a text where the script changes (``UnicodeScripts``).

Hiragana and Katakana count as Han. A space goes with what is before it, and so does a character of no script
in Unicode 9, whose scripts ``tokenizers`` knows. At the beginning of a text, both are dropped.
"""

from __future__ import annotations

import functools

_CODES = (
    "Adlm Aghb Ahom Arab Armi Armn Avst Bali Bamu Bass Batk Beng Bhks Bopo Brah Brai Bugi Buhd Cakm "
    "Cans Cari Cham Cher Copt Cprt Cyrl Deva Dsrt Dupl Egyp Elba Ethi Geor Glag Goth Gran Grek Gujr "
    "Guru Hang Hano Hatr Hebr Hluw Hmng Hrkt Hung Ital Java Kali Khar Khmr Khoj Knda Kthi Lana Laoo "
    "Latn Lepc Limb Lina Linb Lisu Lyci Lydi Mahj Mand Mani Marc Mend Merc Mero Miao Mlym Modi Mong "
    "Mroo Mtei Mult Mymr Narb Nbat Newa Nkoo Ogam Olck Orkh Orya Osge Osma Palm Pauc Perm Phag Phli "
    "Phlp Phnx Prti Rjng Runr Samr Sarb Saur Sgnw Shaw Shrd Sidd Sind Sinh Sora Sund Sylo Syrc Tagb "
    "Takr Tale Talu Taml Tang Tavt Telu Tfng Tglg Thaa Thai Tibt Tirh Ugar Vaii Wara Xpeo Xsux Yiii "
    "Zinh "
)
"""The scripts of Unicode 9 but for Han and Common, by their codes in ISO 15924."""

_HAN = r"\p{Hani}\p{Hira}\p{Kana}\u30fc"
_SCRIPTS = [rf"\p{{{code}}}" for code in _CODES.split()]


@functools.cache
def runs_of_scripts() -> str:
    r"""Return an expression that matches each run of characters of one script."""
    known = _HAN + "".join(_SCRIPTS) + r"\p{Zyyy}"
    goes_on = rf"[ ]|[^{known}]"
    common = r"(?![ \u30fc])\p{Zyyy}"
    scripts = [rf"[{_HAN}]", *_SCRIPTS, common]
    return "|".join(f"{script}(?:{script}|{goes_on})*+" for script in scripts)
