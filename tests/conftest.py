"""Which tests run, and how.

``python -m pytest`` runs the quick core, which ``quick.txt`` lists; ``--all`` runs everything, doctests too.
What is named on the command line always runs. The tests in ``project``, of documentation and release, are a
part of the lint step.

Compiled code encodes and trains here from the first byte on, and not plain Python, as most tests are about
it. ``test_plain_encoder.py`` and ``test_plain_trainer.py`` are about the other way, and so are tests that run
commands.
"""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# A failed _check() shows what was compared.
pytest.register_assert_rewrite(*({"structures", "bpe"} - sys.modules.keys()))

HERE = Path(__file__).parent
PROJECT = HERE / "project"

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script; children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first call of anything compiles it. For mutants every run draws the same examples, and none is kept.
settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("mutation", deadline=None, print_blob=True, derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def lines_of(name):
    """Return the lines of a list in this folder: what stands before a comment."""
    lines = (line.partition("#")[0].strip() for line in (HERE / name).read_text("utf-8").splitlines())
    return [line for line in lines if line]


def quick_core():
    """Return the paths that ``quick.txt`` lists, and the tests in them that it leaves out."""
    paths, left_out = [], set()
    for line in lines_of("quick.txt"):
        if line.startswith("tests/"):
            paths.append(line)
        else:  # "without" some tests of the file above
            left_out |= {f"{paths[-1]}::{name}" for name in line.split() if name != "without"}
    return paths, left_out


# ------------------------------------------------------------------------------------------- what is run
def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="all tests and doctests, not only the quick core")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Let each process of ``-n`` have neighboring tests, which need the same compiled code."""
    if getattr(config.option, "dist", None) == "no":
        config.option.dist = "worksteal"


def names_nothing(config):
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS


def pytest_configure(config):
    if names_nothing(config) and not config.option.all:
        config.args, config.left_out = quick_core()


def pytest_collection_modifyitems(config, items):
    """Leave out the tests that the quick core leaves out, but not those that it lists."""
    left_out, named, kept, others = getattr(config, "left_out", set()), {*config.args}, [], []
    for item in items:
        parts = item.nodeid.partition("[")[0].split("::")
        is_kept = item.nodeid in named or not {"::".join(parts[:n]) for n in (2, 3)} & left_out
        (kept if is_kept else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept


def pytest_ignore_collect(collection_path, config):
    if collection_path == PROJECT and names_nothing(config):
        return True
    return None


def not_run(config):
    """Return the line that says what a run without names leaves out, and how that is run."""
    if not names_nothing(config):
        return None
    if config.option.all:
        return "Not run: the documentation and the release: python -m pytest tests/project"
    return (
        "Not run: what tests/quick.txt does not list: pip install --group all; python -m pytest -n auto --all"
    )


def pytest_report_header(config):
    return not_run(config)


def pytest_unconfigure(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not hasattr(config, "workerinput") and not_run(config):
        reporter.write_line(not_run(config))


def pytest_sessionfinish(session):
    """Fail where everything is run in CI and a test is skipped that ``skips.txt`` does not name."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if "CI" in os.environ and session.config.option.all and reporter:
        skipped = {report.nodeid.partition("[")[0] for report in reporter.getreports("skipped")}
        known = set(lines_of("skips.txt"))
        for name in sorted(each for each in skipped if not {each, each.partition("::")[0]} & known):
            reporter.write_line(f"{name} is skipped, and tests/skips.txt does not say why", red=True)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True, scope="module")
def compiled_from_the_start(request):
    if HERE / "structures" in request.path.parents:  # which are tested without what bpe needs, too
        yield
        return
    from bpe.splitting.pattern import everything_compiled

    with everything_compiled():
        yield
