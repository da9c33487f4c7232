"""A release: what the changelog says of it, what may be written while it is made, and the forms for issues."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from bot import __version__
from tests.docs.pages import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
WORKFLOW = yaml.load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"), yaml.BaseLoader)
FORMS = [path for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"]


def parts(version: str) -> tuple[int, ...]:
    """A version's numbers, to be compared."""
    return tuple(map(int, version.split(".")))


@pytest.fixture(scope="module")
def notes() -> ModuleType:
    """The script that the workflow takes a release's text from."""
    spec = importlib.util.spec_from_file_location("release_notes", ROOT / ".ci" / "release_notes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_changelog_has_the_form_that_it_names() -> None:
    """*Unreleased* is on top, versions follow from new to old with their day, entries stand under known kinds, and
    each heading has its link.
    """
    headings = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    versions = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}", heading) for heading in headings[1:]]
    assert all(versions), headings
    numbers = [parts(found[1]) for found in versions if found]
    assert numbers == sorted(set(numbers), reverse=True)
    assert set(re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE)) <= KINDS
    for heading in headings:
        assert re.search(rf"^{re.escape(heading.split(' - ')[0])}: https://", CHANGELOG, re.MULTILINE), heading


def test_the_version_is_the_newest_or_a_later_one() -> None:
    """What the code calls itself is not older than what has been released."""
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", CHANGELOG, re.MULTILINE)
    assert parts(__version__) >= max(map(parts, released), default=(0,))


def test_a_release_says_what_stands_under_its_version(notes: ModuleType) -> None:
    """The text is the version's section alone: no heading, no other version, no links at the end."""
    text = (
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- C\n\n## [1.10.0] - 2026-02-01\n\n### Fixed\n\n- B\n\n"
        "## [1.1.0] - 2026-01-01\n\n### Added\n\n- A\n\n[Unreleased]: https://x\n[1.1.0]: https://y\n"
    )
    assert notes.section(text, "1.10.0") == "### Fixed\n\n- B\n"
    assert notes.section(text, "1.1.0") == "### Added\n\n- A\n"


@pytest.mark.parametrize("version", ["1.2.0", "1.1.0"], ids=["no section", "an empty one"])
def test_a_release_that_says_nothing_is_refused(version: str, notes: ModuleType) -> None:
    """Without a section, or with an empty one, there is no release."""
    text = "## [Unreleased]\n\n- x\n\n## [1.1.0] - 2026-01-01\n\n[1.1.0]: https://y\n"
    with pytest.raises(ValueError, match=re.escape(f"[{version}]")):
        notes.section(text, version)


def test_a_tag_of_another_version_is_refused() -> None:
    """A tag that was pushed has to be the version that the code has."""
    script = [sys.executable, str(ROOT / ".ci" / "release_notes.py"), "v99.0.0"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"release_notes: the tag is v99.0.0, and the code is version {__version__}\n"


def test_what_may_write_runs_nothing_of_the_repository() -> None:
    """The job that builds may only read; the one whose token writes checks nothing out and starts no script of ours."""
    build, publish = WORKFLOW["jobs"]["build"], WORKFLOW["jobs"]["publish"]
    assert WORKFLOW["permissions"] == {}
    assert build["permissions"] == {"contents": "read"}
    assert publish["permissions"] == {"contents": "write", "id-token": "write", "attestations": "write"}
    assert not any("checkout" in step.get("uses", "") for step in publish["steps"])
    assert not re.search(
        r"\b(make|python|pip|bash)\b|\./|\.ci/", " ".join(step.get("run", "") for step in publish["steps"])
    )


def test_the_attested_wheel_is_the_one_that_was_tried() -> None:
    """What `make wheel` leaves in dist/ is handed on, attested and released."""
    build, publish = (WORKFLOW["jobs"][name]["steps"] for name in ("build", "publish"))
    assert any(step.get("run") == "make wheel" for step in build)
    (kept,) = [step["with"]["path"] for step in build if "upload-artifact" in step.get("uses", "")]
    (attested,) = [
        step["with"]["subject-path"] for step in publish if "attest-build-provenance" in step.get("uses", "")
    ]
    assert attested == "dist/*.whl"
    assert attested in kept.split()
    assert any(f'gh release create "v$VERSION" {attested} ' in step.get("run", "") for step in publish)


def run_step(job: str, name: str, where: Path, **environ: str) -> str:
    """What a step of the workflow prints, run as a runner runs it; in `where`, whose `programs` come first."""
    (script,) = [step["run"] for step in WORKFLOW["jobs"][job]["steps"] if step["name"] == name]
    path = os.pathsep.join([str(where / "programs"), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=where,
        env={"PATH": path, "GITHUB_SHA": "a" * 40, "GITHUB_REPOSITORY": "acme/nightjar", **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """One of version 1.2.3, and a `gh` that prints what it is asked to do and knows the tag `v1`, but not `v2`."""
    for path in ("bot", ".ci", "programs"):
        (tmp_path / path).mkdir()
    shutil.copy(ROOT / ".ci" / "release_notes.py", tmp_path / ".ci")
    (tmp_path / "bot" / "__init__.py").write_text('__version__ = "1.2.3"\n', encoding="utf-8")
    changelog = "## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n\n### Added\n\n- A\n\n## [1.2.2] - 2025-12-01\n\n- Z\n"
    (tmp_path / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    gh = tmp_path / "programs" / "gh"
    gh.write_text('#!/bin/sh\necho "gh $*"\ncase "$*" in *ref/tags/v2*) exit 1;; esac\n', encoding="utf-8")
    gh.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(("kind", "name"), [("tag", "v1.2.3"), ("branch", "main")])
def test_version_and_notes_come_from_the_code(checkout: Path, kind: str, name: str) -> None:
    """Whether a tag was pushed or somebody asked by hand, the version is the code's and the text its section."""
    output = checkout / "output"
    environ = {"GITHUB_REF_TYPE": kind, "GITHUB_REF_NAME": name, "GITHUB_OUTPUT": str(output)}
    run_step("build", "Version and notes", checkout, **environ)
    assert output.read_text(encoding="utf-8") == "version=1.2.3\n"
    assert (checkout / "dist-notes" / "notes.md").read_text(encoding="utf-8") == "### Added\n\n- A\n"


@pytest.mark.parametrize(
    ("version", "asked"),
    [
        ("1.2.3", f"--method PATCH repos/acme/nightjar/git/refs/tags/v1 -f sha={'a' * 40} -F force=true --silent"),
        ("2.0.0", f"--method POST repos/acme/nightjar/git/refs -f ref=refs/tags/v2 -f sha={'a' * 40} --silent"),
    ],
    ids=["moved", "made"],
)
def test_the_major_versions_tag_moves(checkout: Path, version: str, asked: str) -> None:
    """The tag that users name is moved to the released commit, or made where the major version is new."""
    said = run_step("publish", "Move the major version's tag", checkout, VERSION=version).splitlines()
    assert said[-1] == f"gh api {asked}"
    assert len(said) == 2


def test_the_release_has_the_wheel_and_the_notes(checkout: Path) -> None:
    """The release is made for the commit that was built, with its wheel and the changelog's section."""
    (checkout / "dist").mkdir()
    (checkout / "dist" / "nightjar_bot-1.2.3-py3-none-any.whl").touch()
    assert run_step("publish", "Release", checkout, VERSION="1.2.3") == (
        f"gh release create v1.2.3 dist/nightjar_bot-1.2.3-py3-none-any.whl --target {'a' * 40} "
        "--title Nightjar 1.2.3 --notes-file dist-notes/notes.md\n"
    )


def test_forms_for_issues_are_valid() -> None:
    """GitHub takes them, and the one for mistakes asks for the reason and the Record."""
    tool = Path(sys.executable).with_name("check-jsonschema")
    config = ROOT / ".github/ISSUE_TEMPLATE/config.yml"
    for schema, files in (("issue-forms", FORMS), ("issue-config", [config])):
        words = [str(tool), "--builtin-schema", f"vendor.github-{schema}", *map(str, files)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stdout
    bug = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/bug.yml").read_text(encoding="utf-8"))
    assert {"reason", "record", "show"} <= {part["id"] for part in bug["body"] if "id" in part}


def test_dependabot_looks_weekly() -> None:
    """Actions and Python packages are looked at once a week, and its file is valid."""
    path = ROOT / ".github/dependabot.yml"
    tool = Path(sys.executable).with_name("check-jsonschema")
    words = [str(tool), "--builtin-schema", "vendor.dependabot", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout
    updates = yaml.safe_load(path.read_text(encoding="utf-8"))["updates"]
    assert {(one["package-ecosystem"], one["schedule"]["interval"]) for one in updates} == {
        ("github-actions", "weekly"),
        ("pip", "weekly"),
    }
