"""What a release says of itself is said once, or the same everywhere; the modules that are found are ours."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.optional import required

ROOT = Path(__file__).parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text("utf-8")
VERSION = re.search(r'^version = "(.+)"$', PROJECT, re.MULTILINE)[1]


def test_versions_agree():
    assert re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)[1] == VERSION
    recipe = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text("utf-8")
    assert re.search(r'^  version: "(.+)"$', recipe, re.M)[1] == VERSION
    sections = re.findall(r"^## (.+), (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert sections[0][0] == VERSION
    dates = [date for version, date in sections if "dev" not in version]
    assert dates == sorted(filter(re.compile(r"\d{4}-\d\d-\d\d").fullmatch, dates), reverse=True)


def test_conda_installs_what_pip_does():
    recipe = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text("utf-8")
    asked = re.search(r"^dependencies = \[\n(.+?)^\]", PROJECT, re.M | re.S)[1]
    wanted = [each.replace(">=", " >=") for each in re.findall(r'"(.+)"', asked)]
    given = re.search(r"^  run:\n((?:    - .+\n)+)", recipe, re.M)[1]
    assert re.findall(r"- (.+)", given)[1:] == wanted
    python = re.search(r'^requires-python = ">=(.+)"$', PROJECT, re.M)[1]
    assert f'python_min: "{python}"' in recipe
    program = re.search(r'^bpe = "(.+)"$', PROJECT, re.M)[1]
    assert f"- bpe = {program}\n" in recipe


def test_citation_and_recipe_are_yaml():
    yaml = required("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors", "version"} <= citation.keys()
    assert yaml.safe_load((ROOT / ".ci" / "conda" / "recipe.yaml").read_text("utf-8"))["schema_version"] == 1


def test_workflows_follow_the_project():
    """They run the scripts of ``.ci``, on every Python that the classifiers name, and nothing else."""
    yaml = required("yaml")
    jobs = {}
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        jobs |= yaml.safe_load(path.read_text("utf-8"))["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert {*commands} == {".ci/run", ".ci/run core", ".ci/release dist"}
    pythons = re.findall(r"Python :: (3\.\d+)\"", PROJECT)
    assert jobs["core"]["strategy"]["matrix"]["python"] == pythons
    assert PROJECT.count(f'requires-python = ">={pythons[0]}"') == 1


@pytest.mark.parametrize("other", ["structures.py", "structures/__init__.py"])
def test_a_module_of_another_is_refused(tmp_path, other):
    (tmp_path / other).parent.mkdir(exist_ok=True)
    (tmp_path / other).write_text("raise SystemExit('never imported')")
    done = subprocess.run(
        [sys.executable, "-c", "import bpe"],
        cwd=tmp_path,  # which comes first
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert str(tmp_path / other) in last
    assert last.endswith("reinstall bpe-structures")


def test_commands_of_pages_exist():
    """What the README and pages name is there, and ``.ci/figures`` has what figures come from."""
    script = (ROOT / ".ci" / "figures").read_text("utf-8")
    pages = [
        ROOT / "README.md",
        ROOT / "SECURITY.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.rst"),
    ]
    path = re.compile(r"(?<![\w/.-])(?:asv_benchmarks|tests|\.ci|\.github)/[\w./-]*\w")
    named = {name for page in pages for name in path.findall(page.read_text("utf-8"))}
    assert len(named) > 30
    missing = [name for name in sorted(named) if not (ROOT / name).exists()]
    assert [name for name in missing if "written_by_" not in name] == []  # of a release
    tables = [path.read_text("utf-8") for path in (ROOT / "docs" / "tables").glob("*.inc")]
    measured = {name for table in tables for name in re.findall(r"asv_benchmarks/(\w+)\.py", table)}
    assert [name for name in sorted(measured) if name not in script] == []


def test_links_of_the_description_are_absolute(tmp_path):
    text = "![chart](docs/a.svg) [text](SECURITY.md#limits) [other](https://a.example/b) [here](#part)"
    (tmp_path / "README.md").write_text(text)
    (tmp_path / "pyproject.toml").write_text('[project.urls]\nSource = "https://toy.example/tree/"\n')
    subprocess.run([sys.executable, str(ROOT / ".ci" / "absolute_links.py"), str(tmp_path)], check=True)
    assert (tmp_path / "README.md").read_text() == (
        "![chart](https://toy.example/tree/docs/a.svg) [text](https://toy.example/tree/SECURITY.md#limits) "
        "[other](https://a.example/b) [here](#part)"
    )
