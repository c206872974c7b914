"""Let the pages of asv load nothing from elsewhere, and nothing that is not there.

    python .ci/bundle_graphs.py FOLDER NODE_MODULES

FOLDER is what ``asv publish`` wrote. The scripts and styles that its page loads by an address are taken from
NODE_MODULES, by their names, minified or not, and copied to ``vendor`` beside the page. Benchmarks without
results are left out.
"""

import json
import re
import shutil
import sys
from pathlib import Path, PurePosixPath

LOADED = re.compile(r"""(?:src|href)=["'](https?://[^"']+\.(?:js|css))["']""")
# Of no use where the file is beside the page.
GUARDS = re.compile(r""" (?:integrity|crossorigin|referrerpolicy)=["'][^"']*["']""")


def find(modules: Path, name: str) -> Path:
    """Return the file of a name, which may have a version in it."""
    plain = re.sub(r"-\d[\d.]*\d", "", name)
    for wanted in (plain, plain.replace(".min.", ".")):
        if found := sorted(modules.rglob(wanted), key=lambda path: len(path.parts)):
            return found[0]
    sys.exit(f"{modules} has no {plain}: add its package to .ci/graphs")


def main() -> None:
    """Copy what is loaded; change the page and its list of benchmarks."""
    folder, modules = map(Path, sys.argv[1:])
    vendor = folder / "vendor"
    vendor.mkdir(exist_ok=True)
    page = folder / "index.html"
    text = page.read_text("utf-8")
    for address in LOADED.findall(text):
        file = find(modules, PurePosixPath(address).name)
        shutil.copy(file, vendor)
        text = text.replace(address, f"vendor/{file.name}")
    page.write_text(GUARDS.sub("", text), "utf-8")

    index = folder / "index.json"
    content = json.loads(index.read_text("utf-8"))
    measured = {path.stem for path in (folder / "graphs" / "summary").glob("*.json")}
    content["benchmarks"] = {name: each for name, each in content["benchmarks"].items() if name in measured}
    index.write_text(json.dumps(content), "utf-8")


if __name__ == "__main__":
    main()
