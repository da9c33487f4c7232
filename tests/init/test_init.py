"""`nightjar init`, the real command in a fresh clone: what it writes, what it leaves alone, and what it says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from bot.ci.found import watched_names
from bot.settings import SCHEMA_URL
from tests.init.conftest import MakeDesk
from tests.init.desk import FILES, ROOT, SETTINGS, WAKE, WORKFLOW, Desk

LABELS = ["nightjar", *(f"nightjar:{state}" for state in ("working", "parked", "queued", "ready", "failed"))]


def test_a_fresh_clone_gets_three_files(desk: Desk) -> None:
    """Two workflows and a commented settings file are written, and the two things that are left are said with why."""
    said = desk.init()
    assert (said.code, said.err) == (0, "")
    assert desk.read(WORKFLOW) == (ROOT / WORKFLOW).read_text(encoding="utf-8")
    assert watched_names(desk.read(WAKE)) == ("CI",)
    assert desk.read(SETTINGS).startswith(f"# yaml-language-server: $schema={SCHEMA_URL}\n")
    for text in (
        f" written {WORKFLOW}: works on an issue",
        "CI that was found: CI (ci.yml).",
        f"1. Add the secret ANTHROPIC_API_KEY, which claude works with: {desk.hub.server_url}/acme/widget/settings/",
        "2. Add the secret NIGHTJAR_TOKEN",
        "does not start CI (pull_request, push): an Enterprise Server starts nothing",
        "Then commit the files to main",
    ):
        assert text in said.flat
    assert "labels: there is no token in GH_TOKEN or GITHUB_TOKEN" in said.out


def test_labels_are_made_once(desk: Desk) -> None:
    """With a token the six labels are made; a second time nothing is written and nothing is asked for."""
    said = desk.init(GH_TOKEN=desk.token)
    assert said.code == 0
    assert f" made labels: {', '.join(LABELS)}" in said.flat
    assert desk.made() == 6
    before = desk.snapshot()
    again = desk.init(GH_TOKEN=desk.token)
    assert (again.code, again.err) == (0, "")
    assert again.out.startswith("Nothing to do: the three files are in place and so are the labels.")
    assert desk.made() == 6
    assert desk.snapshot() == before


def test_a_token_from_a_file(desk: Desk) -> None:
    """`--token-file` goes before the environment, and a token that GitHub refuses is told without being shown."""
    file = desk.folder / "token"
    file.write_text(f"{desk.token}\n", encoding="utf-8")
    assert " made labels: nightjar," in desk.init("--token-file", str(file), GH_TOKEN="ghp_other").flat
    file.write_text("ghp_ofNoUse0000000000000000\n", encoding="utf-8")
    refused = desk.init("--token-file", str(file))
    assert refused.code == 1
    assert " failure labels, with the token from the file" in refused.flat
    assert "401" in refused.out
    assert "ghp_ofNoUse" not in refused.out + refused.err


@pytest.mark.parametrize(
    ("text", "why"), [("", "holds no token"), ("two words", "holds no token"), (None, "cannot be read")]
)
def test_a_token_file_of_no_use(desk: Desk, text: str | None, why: str) -> None:
    """A file without a token, and one that is not there, are one line and exit code 2; nothing is written."""
    file = desk.folder / "token"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    said = desk.init("--token-file", str(file))
    assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert why in said.err
    assert set(desk.snapshot()) == set(FILES)


def test_a_file_that_is_there_is_left_alone(desk: Desk) -> None:
    """What somebody has written stays, the difference is shown, and how to take what would have been written."""
    desk.init()
    desk.write(SETTINGS, "max-repairs: 1\nlabel: robot\n")
    said = desk.init(where=desk.clone / ".github")
    assert said.code == 1
    assert desk.read(SETTINGS) == "max-repairs: 1\nlabel: robot\n"
    assert f" differs {SETTINGS}: left as it is, see below" in said.flat
    assert f"--- a/{SETTINGS}\n+++ b/{SETTINGS}\n" in said.out
    assert "-max-repairs: 1\n" in said.out
    assert "+# max-repairs: 5\n" in said.out
    assert "To take it as it would be written: nightjar init --print nightjar.yml > nightjar.yml" in said.out
    taken = desk.init("--print", "nightjar.yml", where=desk.clone / ".github")
    assert (taken.code, taken.err) == (0, "")
    desk.write(SETTINGS, taken.out)
    assert desk.init().out.startswith("Nothing to do")


def test_a_foreign_workflow_cannot_steer_the_terminal(desk: Desk) -> None:
    """The difference to a file with escape sequences in it shows none of them."""
    desk.write(WORKFLOW, "name: x\x1b[2J\x1b]0;owned\x07\u202e\n")
    said = desk.init()
    assert [char for char in said.out if not (char.isprintable() or char == "\n")] == []


def test_dry_run_shows_everything_and_changes_nothing(desk: Desk) -> None:
    """Each file is shown whole, as a patch that git takes; no file, no folder and no label is made."""
    before = desk.snapshot()
    said = desk.init("--dry-run", GH_TOKEN=desk.token)
    assert said.code == 0
    assert desk.snapshot() == before
    assert desk.made() == 0
    assert f" would be made labels: {', '.join(LABELS)}" in said.flat
    patch = "".join(line for line in said.out.splitlines(True) if line.startswith(("+", "--- /dev/null", "@@")))
    (desk.folder / "patch").write_text(patch, encoding="utf-8")
    desk.git("apply", str(desk.folder / "patch"))
    assert desk.init().out.startswith("Nothing to do")


def bare(desk: Desk) -> Path:
    """A bare clone."""
    desk.git("clone", "-q", "--bare", str(desk.clone), str(desk.folder / "bare"))
    return desk.folder / "bare"


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (lambda desk: desk.folder, "this folder is in no clone of a repository; call the command in one"),
        (bare, "this is a bare repository, which holds no files; call the command in an ordinary clone of it"),
        (lambda desk: desk.clone / ".git", "this folder is inside .git; call the command among the repository's files"),
    ],
    ids=["no repository", "bare", "inside .git"],
)
@pytest.mark.parametrize("command", ["init", "doctor"])
def test_where_there_is_nothing_to_work_in(desk: Desk, place: Callable[[Desk], Path], line: str, command: str) -> None:
    """One line says what the folder is and where to call the command, with exit code 2."""
    said = desk.run(command, where=place(desk))
    assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert said.err.startswith(f"nightjar {command}: {line}")


def test_a_subfolder_and_no_branch(desk: Desk) -> None:
    """Called in a subfolder with HEAD on no branch, the files go to the top, and it is said to switch to a branch."""
    desk.git("checkout", "-q", "--detach")
    desk.write("deep/down/x", "")
    said = desk.init(where=desk.clone / "deep" / "down")
    assert said.code == 0
    assert (desk.clone / SETTINGS).is_file()
    assert "HEAD is on no branch: switch to one before you commit." in said.out


@pytest.mark.parametrize("remote", ["", "/srv/git/widget.git"])
def test_no_remote_on_a_github(desk: Desk, remote: str) -> None:
    """Without a remote, or with one elsewhere, the files are written all the same, and it is said why no labels are."""
    desk.git("remote", "remove", "origin")
    if remote:
        desk.git("remote", "add", "origin", remote)
    said = desk.init(GH_TOKEN=desk.token)
    assert said.code == 0
    assert (desk.clone / WORKFLOW).is_file()
    assert "name another by --remote, or set GITHUB_REPOSITORY to owner/name" in said.out
    assert "1. Add the secret ANTHROPIC_API_KEY, which claude works with: Settings, Secrets" in said.out


def test_no_ci(make_desk: MakeDesk) -> None:
    """Without a workflow for pull requests the second workflow waits for none, and no token is asked for."""
    desk = make_desk({"a.txt": "one\n"})
    said = desk.init()
    assert said.code == 0
    assert "No workflow here starts for a pull request or its branch." in said.out
    assert "2. No token beside the job's own is needed" in said.out
    assert "workflow_run" not in yaml.load(desk.read(WAKE), yaml.BaseLoader)["on"]


def test_ci_that_can_be_dispatched(make_desk: MakeDesk) -> None:
    """Where all of CI can be started by hand, the other way is named too; files that cannot be read are named."""
    by_hand = "name: 'Tests: all'\non: [pull_request, workflow_dispatch]\njobs: {}\n"
    broken = "name: [\n"
    desk = make_desk({".github/workflows/tests.yaml": by_hand, ".github/workflows/broken.yml": broken})
    said = desk.init()
    assert "Or set `ci-dispatch: tests.yaml` in .github/nightjar.yml" in said.out
    assert "Left out, because it cannot be read: .github/workflows/broken.yml: not YAML" in said.out
    assert watched_names(desk.read(WAKE)) == ("Tests: all",)


def test_settings_that_are_there_are_looked_at(desk: Desk) -> None:
    """The labels are those that the settings file asks for; a file that is wrong is said to be."""
    desk.write(SETTINGS, "label: robot\n")
    assert " made labels: robot, robot:working" in desk.init(GH_TOKEN=desk.token).flat
    desk.write(SETTINGS, "labell: robot\n")
    said = desk.init()
    assert said.code == 1
    assert f"{SETTINGS}:1" in said.out
    assert "did you mean `label`" in said.out


def test_labels_of_profiles(desk: Desk) -> None:
    """Labels of the settings file's profiles ask for Runs too: they are made, or named where nobody can make them."""
    desk.write(SETTINGS, "labels:\n  nightjar:fast: {max-repairs: 1}\n  nightjar:slow: {draft: never}\n")
    assert "by hand you can make what asks for one: nightjar, nightjar:fast, nightjar:slow." in desk.init().flat
    said = desk.init(GH_TOKEN=desk.token)
    assert " made labels: nightjar, nightjar:fast, nightjar:slow, nightjar:working, " in said.flat
    assert desk.made() == 8
    assert " there labels\n" in desk.init(GH_TOKEN=desk.token).flat


def test_a_link_out_of_the_repository(desk: Desk) -> None:
    """Where `.github` is a link that leads elsewhere nothing is written through it, and each file says so."""
    elsewhere = desk.folder / "elsewhere"
    elsewhere.mkdir()
    desk.git("rm", "-rq", ".github")
    (desk.clone / ".github").symlink_to(elsewhere)
    said = desk.init()
    assert said.code == 1
    assert said.out.count("a link on its way leads out of the repository") == 3
    assert list(elsewhere.iterdir()) == []


def test_no_room_leaves_no_half_of_a_file(desk: Desk) -> None:
    """A file that cannot be written whole is told, and nothing of it is left; the next call writes it."""
    words = f"ulimit -f 3; exec '{sys.executable}' -m bot init"
    environ = desk.environment(PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(
        ["bash", "-c", words], cwd=desk.clone, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f" failure   {WORKFLOW}: it could not be written: File too large" in done.stdout
    assert set(desk.snapshot()) == set(FILES)
    assert desk.init().code == 0


def test_a_narrow_pipe(desk: Desk) -> None:
    """With COLUMNS=40 lines are folded at blanks, and only a path or an address is longer; a pipe gets no colours."""
    said = desk.init(COLUMNS="40")
    assert max(len(line) for line in said.lines if "/" not in line) <= 40
    assert "\x1b" not in said.out
    assert max(map(len, desk.init("--dry-run", GH_TOKEN=desk.token).lines)) > 100


def test_colours_where_they_are_wanted(desk: Desk) -> None:
    """A terminal gets the words that matter in colour; with NO_COLOR, or a dumb one, it gets none."""
    assert "\x1b[32mwritten\x1b[0m" in desk.on_a_terminal("init")
    desk.write(SETTINGS, "draft: never\n")
    assert "\x1b[33mdiffers\x1b[0m" in desk.on_a_terminal("init")
    for quiet in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        seen = desk.on_a_terminal("init", **quiet)
        assert "differs" in seen
        assert "\x1b" not in seen


def test_an_unknown_path(desk: Desk) -> None:
    """`--print` of something else is one line that names what there is."""
    said = desk.init("--print", "README.md")
    assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert f"'README.md' is none of the files that are written: {WORKFLOW}, {WAKE}, {SETTINGS}" in said.err


@pytest.mark.parametrize(
    "tool",
    [
        ("actionlint",),
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
        ("zizmor", "--offline", "--quiet", "--config", str(ROOT / ".github" / "zizmor.yml"), "--persona=auditor"),
    ],
    ids=["actionlint", "check-jsonschema", "zizmor"],
)
def test_what_is_written_is_clean_for_linters(make_desk: MakeDesk, tool: tuple[str, ...]) -> None:
    """The workflows that a repository gets have nothing that a careful owner's linters would find."""
    others = {f".github/workflows/{name}.yml": f"name: '{name}'\non: pull_request\njobs: {{}}\n" for name in "ab"}
    named = {".github/workflows/c.yml": 'name: "a: \\"b\\" [x], #1"\non: pull_request\njobs: {}\n'}
    desk = make_desk({**FILES, **others, **named})
    desk.init()
    assert watched_names(desk.read(WAKE)) == ("a", "b", 'a: "b" [x], #1', "CI")
    program = Path(sys.executable).with_name(tool[0])
    done = subprocess.run(
        [program, *tool[1:], WORKFLOW, WAKE], cwd=desk.clone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
