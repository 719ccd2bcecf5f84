"""README and docs: every snippet, command, link and docstring example does what stands there."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "README.zh-CN.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)

# Commands that are not run here, each with the reason.
NOT_RUN = {
    "GLOG_v=3 msrun --worker_num=2 --local_worker_num=2 --join=True --log_dir=logs docs/examples/data_parallel.py": (
        "takes a fixed port; test_data_parallel.py runs it on a free one"
    ),
    "python3.11 -m venv .venv && .venv/bin/pip install '.[examples]' && .venv/bin/mindspore-tanhbw train": (
        "installs MindSpore; .ci/run installs a wheel in an environment of its own, and test_commands.py trains"
    ),
    "python3.11 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/python -m pytest": (
        "installs MindSpore and runs this file; .ci/run does it"
    ),
    "python3.11 -m venv .venv && . .venv/bin/activate": "makes an environment in the clone",
    "pip install '.[examples]'": "changes the environment that the tests run in",
    "pip install -e '.[test,docs]'": "changes the environment that the tests run in",
    "pip install -q --no-deps -e .": "changes the environment that the tests run in",
    "mindspore-tanhbw train": "test_commands.py runs it with fewer epochs",
    "source /usr/local/Ascend/ascend-toolkit/set_env.sh": "needs CANN",
    "mindspore-tanhbw doctor --device Ascend": "needs CANN; here it is run on the simulator",
    "mindspore-tanhbw check --device Ascend": "needs CANN; test_ascend_commands.py runs it on the simulator",
    "python -m pytest": "runs this file",
    "python -m pytest -m long": "takes minutes; .ci/run does it",
    "ruff check": ".ci/run does it",
    "mypy --strict": ".ci/run does it",
    ".ci/run": "runs this file",
}
API_REFERENCE = "python -m sphinx -q -W -b html docs/api build/api"
RUN_LONG = {
    API_REFERENCE,
    # test_commands.py runs it with fewer repeats.
    "mindspore-tanhbw bench --device CPU",
    "python tests/cann_sim/run.py -- python -m mindspore_tanhbw bench --device Ascend",
}


def blocks(page, language):
    """The text of each block in the language, and the text of the block without a language right below it, or ''."""
    found = list(BLOCK.finditer(page.read_text(encoding="utf-8")))
    for one, following in zip(found, [*found[1:], None]):
        if one[1] == language:
            below = following and not following[1] and not following.string[one.end() : following.start()].strip()
            yield one[2], following[2] if below else ""


def named(texts):
    return [pytest.param(page, *rest, id=f"{page.name}-{number}") for number, (page, *rest) in enumerate(texts)]


def commands():
    lines = {line for page in PAGES for text, _ in blocks(page, "bash") for line in text.splitlines()}
    return sorted(lines - NOT_RUN.keys())


def run(command, folder, timeout=300):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=timeout)


@pytest.fixture
def clone(tmp_path):
    """What commands in the docs find in the current folder; what they write stays out of the clone."""
    for name in ("docs", "tests", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


# README.zh-CN.md has the snippets of README.md, as a test below says.
@pytest.mark.parametrize(
    ("page", "snippet", "output"),
    named((page, *pair) for page in PAGES if page.name != "README.zh-CN.md" for pair in blocks(page, "python")),
)
def test_snippet_prints_what_stands_below_it(run_python, page, snippet, output):
    printed = run_python(snippet)
    if output:
        assert printed == output
    else:
        assert printed.strip().splitlines()[-1:] == ["True"], "without a block below it, a snippet ends with True"


@pytest.mark.parametrize(
    "command", [pytest.param(one, marks=pytest.mark.long if one in RUN_LONG else ()) for one in commands()]
)
def test_command_succeeds(clone, command):
    done = run(command, clone, 1200 if command in RUN_LONG else 300)
    assert done.returncode == 0, done.stdout + done.stderr
    if command == API_REFERENCE:
        assert done.stdout + done.stderr == "", "no warnings"
        assert "tanh_backward" in (clone / "build/api/index.html").read_text(encoding="utf-8")


def test_commands_that_are_not_run_stand_in_the_docs():
    lines = {line for page in PAGES for text, _ in blocks(page, "bash") for line in text.splitlines()}
    assert lines >= NOT_RUN.keys() | RUN_LONG


def sessions():
    """Blocks that begin with a prompt: `$ cat FILE` shows a file, `$ COMMAND` what it prints."""
    for page in PAGES:
        for text, _ in blocks(page, ""):
            if text.startswith("$ "):
                yield page, re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)


@pytest.mark.parametrize(("page", "steps"), named(sessions()))
def test_session_prints_what_stands_there(clone, page, steps):
    for command, output in steps:
        if command.startswith("cat "):
            (clone / command.split()[1]).write_text(output)
        else:
            done = run(command, clone)
            assert done.returncode == 0, done.stdout + done.stderr
            assert done.stdout.strip() == output.strip()


def test_docstring_examples(run_python):
    """Of every public name that has one; bind first, whose example shows a count from the start of the process."""
    out = run_python(
        """
import doctest
import mindspore_tanhbw as tbw

finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
for name in sorted(tbw.__all__, key=lambda name: name != "bind"):
    # With nothing in its globals, as a reader types it.
    for test in finder.find(getattr(tbw, name), name, globs={}, module=False):
        if test.examples:
            print(name)
            runner.run(test)
print(runner.summarize(verbose=False))
"""
    )
    *names, results = out.splitlines()
    assert results.startswith("TestResults(failed=0,"), out
    assert set(names) >= {"Tanh", "bind", "bound", "launch_count", "tanh", "tanh_backward"}


def anchors(page):
    """Of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            other = (page.parent / name).resolve() if name else page
            assert other.is_file(), target
            assert not anchor or anchor in anchors(other), target


def test_every_page_can_be_reached_from_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f"](docs/{page.name})" in text, page.name


def skeleton(page):
    """What a translation leaves as it is: headings' levels, rows of tables, code, links, code blocks."""
    text = page.read_text(encoding="utf-8")
    prose = BLOCK.sub("", text)
    return {
        "blocks": [match.groups() for match in BLOCK.finditer(text)],
        "headings": re.findall(r"^(#+) ", prose, re.MULTILINE),
        "columns": [line.count("|") for line in prose.splitlines() if line.startswith("|")],
        "items": len(re.findall(r"^- ", prose, re.MULTILINE)),
        "code": sorted(set(re.findall(r"`([^`]+)`", prose))),
        "links": re.findall(r"\]\(([^)]+)\)", prose),
    }


def test_the_chinese_readme_mirrors_the_english_one():
    english, chinese = skeleton(ROOT / "README.md"), skeleton(ROOT / "README.zh-CN.md")
    for part in english:
        assert chinese[part] == english[part], part


def test_changelog_has_the_version():
    import mindspore_tanhbw as tbw

    assert f"## [{tbw.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_index_takes_sdist_and_wheel(tmp_path):
    """The README renders there, and the metadata is valid."""
    for command in (
        [sys.executable, "-m", "build", "--outdir", str(tmp_path / "dist"), str(ROOT)],
        [sys.executable, "-m", "twine", "check", "--strict", *("dist/" + name for name in ("*.whl", "*.tar.gz"))],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2
