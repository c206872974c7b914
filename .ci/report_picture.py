"""Take the picture of a report: python .ci/report_picture.py [FILE.png], by default docs/pictures/report.png.

A headless Chromium opens what ``bpe report`` writes about a tokenizer of the bundled novel.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import bpe
from bpe.cli import main as run_bpe

ROOT = Path(__file__).parents[1]
NOVEL = ROOT / "tests" / "data" / "treasure_island.txt"
SIZE = {"width": 1000, "height": 800}
TEXT = "Fifteen men on the dead man's chest. Yo-ho-ho, and a bottle of rum! <|endoftext|>"
TOKEN = " buccaneers"
LARGEST = 150_000  # bytes


def main() -> None:
    """Write the picture."""
    out = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs" / "pictures" / "report.png"
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as engine:
        tok, page_file = Path(scratch, "tok.json"), Path(scratch, "report.html")
        bpe.train(NOVEL, vocab_size=4000, special_tokens=["<|endoftext|>"]).save(tok)
        command = ["report", str(tok), str(NOVEL), "-o", str(page_file)]
        run_bpe(command, standalone_mode=False)
        browser = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(page_file.as_uri())
        page.locator("textarea").first.fill(TEXT)
        page.get_by_label("Token or id").fill(TOKEN)
        page.get_by_role("button", name="Show").first.click()
        picture = page.screenshot()
        browser.close()
    if len(picture) > LARGEST:
        sys.exit(f"the picture has {len(picture):,} bytes, more than {LARGEST:,}")
    out.write_bytes(picture)
    print(f"{out}: {len(picture):,} bytes")


if __name__ == "__main__":
    main()
