"""Make the links of the README absolute, for the description of the package, which has no folder around it.

python .ci/absolute_links.py FOLDER: change FOLDER/README.md; the address is "Source" in its pyproject.toml.
"""

import re
import sys
from pathlib import Path


def absolute(text: str, address: str) -> str:
    """Return a text of Markdown with its relative links below an address."""
    return re.sub(r"(\]\()(?!\w+:|#|/)", rf"\g<1>{address.rstrip('/')}/", text)


if __name__ == "__main__":
    readme, project = Path(sys.argv[1], "README.md"), Path(sys.argv[1], "pyproject.toml")
    [address] = re.findall(r'^Source = "(.+)"$', project.read_text("utf-8"), re.MULTILINE)
    readme.write_text(absolute(readme.read_text("utf-8"), address), "utf-8")
