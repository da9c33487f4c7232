"""`nightjar rehearse`, the real command in somebody's own repository."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from bot.clock import Clock
from bot.sandbox.github import EmbeddedGitHub
from bot.sandbox.model import Script, ScriptedModel
from tests.rehearse.conftest import MakePlace
from tests.rehearse.place import CI, FILE, SETTINGS, Place, Said
from tests.run.stage import ADD_RIGHT, HAND_OVER, does, says, session

_BAD_CI = CI.replace("python3 -m unittest -v", f"test ! -e {FILE}")


def test_from_the_issue_to_green(place: Place) -> None:
    """A Run by the script ends ready on the user's own CI, shows comments and diff, keeps its page, and says that
    nothing was worked on.
    """
    said = place.scripted()
    assert (said.code, said.err) == (0, "")
    assert "Scripted: a fixed script stands in for the model." in said.out
    assert "@you, pull request #2 is ready for review." in said.out
    assert said.after("CI on what was pushed:").startswith("  ok  CI / test (pull_request)\n\nOutcome: ready.\n")
    assert f"+++ b/{FILE}\n" in said.after("The diff:")
    assert "The script worked on nothing" in said.out
    assert f"The Run page: {place.kept}/run.html\n" in said.out
    kept = {path.name for path in place.kept.iterdir()}
    assert {"run.html", "change.diff", "comments.md", "run.log", "record.json"} < kept
    assert any(name.endswith("-implement.jsonl") for name in kept)
    assert FILE in (place.kept / "change.diff").read_text(encoding="utf-8")
    assert list(place.temp.iterdir()) == []


def test_nothing_of_theirs_is_touched(place: Place) -> None:
    """Refs, index, configuration, hooks and working tree are the same bytes afterwards; uncommitted work is told, and
    is no part of it.
    """
    place.write({"calc.py": "changed\n", "new.txt": "new\n"})
    status = place.git("status", "--porcelain")
    os.utime(place.top / "test_calc.py", (1, 1))  # git would like to note in its index that this is no change
    before = place.snapshot()
    said = place.scripted()
    assert said.code == 0
    assert "2 files with uncommitted changes: not part of it" in said.out
    assert place.snapshot() == before
    assert place.git("status", "--porcelain") == status
    assert "new.txt" not in said.after("The diff:")


def test_red_is_red(make_place: MakePlace) -> None:
    """A check that the work turns red is shown so, and the Run fails with its reason."""
    said = make_place({".github/workflows/ci.yml": _BAD_CI}).scripted("--set", "max-repairs=1")
    assert said.code == 1
    assert "  ok  CI / test (pull_request)\n" in said.after(
        "CI on `main` as it is, so that what is red there already is known:"
    )
    assert said.after("CI on what was pushed:").startswith("  failure  CI / test (pull_request)\n\nOutcome: failed. ")
    assert "nightjar[bot] labelled nightjar:failed" in said.out


def test_red_before_is_not_the_works_fault(make_place: MakePlace) -> None:
    """A check that is red on the base already is seen there first; it costs no Repair, and the Run says whose it is."""
    said = make_place({".github/workflows/ci.yml": CI.replace("python3 -m unittest -v", "exit 3")}).scripted()
    assert said.code == 1
    assert "  failure  CI / test (pull_request)\n\nThe Run:" in said.out
    assert "Outcome: failed. only checks that are red on `main` too are red: `test`" in said.out.replace("**", "")
    assert "no Repairs" in said.out


def test_what_is_not_played_is_named(make_place: MakePlace, tmp_path: Path) -> None:
    """Jobs with services, jobs without `run:` steps and other actions are skipped and named; what neither a push nor a
    pull request starts is no part of it.
    """
    more = (
        "      - uses: actions/setup-python@v5\n"
        "  database:\n    runs-on: ubuntu-latest\n    services: {db: {image: postgres}}\n    steps: [{run: exit 1}]\n"
        "  scan:\n    runs-on: ubuntu-latest\n    steps: [{uses: acme/scan@v1}]\n"
    )
    label = f"on: issues\njobs: {{a: {{runs-on: ubuntu-latest, steps: [{{run: touch {tmp_path}/played}}]}}}}\n"
    said = make_place({".github/workflows/ci.yml": CI + more, ".github/workflows/label.yml": label}).scripted()
    assert said.code == 0
    assert not (tmp_path / "played").exists()
    left = said.after("Not played here, and so not checked:")
    assert "CI / test (pull_request): the step `uses: actions/setup-python@v5` was passed over" in left
    assert "CI / database (pull_request): jobs.database.services is not in the sandbox" in left
    assert "CI / scan (pull_request): it has no `run:` steps" in left
    assert "What is called green counts only what was played here" in left


def test_the_check_command_stands_in(make_place: MakePlace) -> None:
    """Where no workflow can be played the check command is what checks, and is shown red; nothing is called green."""
    files = {".github/workflows/ci.yml": "name: CI\non: workflow_dispatch\njobs: {a: {steps: [{run: exit 1}]}}\n"}
    said = make_place({**files, SETTINGS: f"check-command: test ! -e {FILE}\n"}).scripted("--set", "max-repairs=0")
    assert "no check: no workflow starts" in said.out
    assert said.after("CI on what was pushed:").startswith(
        "  failure  `check-command`, as the Run itself ran it (exit code 1 alone)\n"
        "  skipped  no check ran: nothing of CI speaks for it\n"
    )
    assert "Nothing checked this: no CI ran on" in said.out
    assert "is green" not in said.out


def test_committed_settings_take_effect(make_place: MakePlace) -> None:
    """The settings file counts as committed, not as it lies in the working tree; `--set` goes before it."""
    place = make_place({SETTINGS: "branch-prefix: robot/\nmax-repairs: 3\nlabel: bot\nbase-branch: develop\n"})
    place.write({SETTINGS: "branch-prefix: other/\n"})
    said = place.scripted("--set", "max-repairs=2")
    assert said.code == 0
    assert "you labelled bot\n" in said.out
    assert "pushed robot/issue-1" in said.out
    assert "Repairs 0 of 2" in said.out


def test_a_setup_that_fails(make_place: MakePlace) -> None:
    """A set-up command that fails ends the Run with its reason, before any Session."""
    said = make_place({SETTINGS: "setup: [exit 7]\n"}).scripted()
    assert said.code == 1
    assert "Outcome: failed." in said.out
    assert "exit 7" in said.out.partition("Outcome: failed.")[2]
    assert "No diff: nothing was changed." in said.out


def test_the_real_claude_with_a_key(place: Place) -> None:
    """The real CLI works with the user's key on a model that the environment names; the cost is told."""
    script = Script((session("implement", does(f"{ADD_RIGHT}; {HAND_OVER}"), says("Done.")),))
    with ScriptedModel(script, api_key="sk-ant-of-alice") as model:
        process = place.real(model.url, "--max-cost-usd", "3")
        out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "with the key in ANTHROPIC_API_KEY: up to $3 (max-cost-usd) may be spent." in out
    assert "+def sub(a, b):\n" in out
    assert "of $3 allowed. Repairs: 0." in out
    assert "sk-ant-of-alice" not in out + "".join(
        path.read_text(encoding="utf-8", errors="replace") for path in place.kept.rglob("*") if path.is_file()
    )


def test_ctrl_c_stops_all_of_it(place: Place) -> None:
    """One Ctrl-C ends the Session with what it started within five seconds, and says what is left and where."""
    script = Script(
        (session("implement", does("python3 -c 'import time; time.sleep(299.25)'", "wait for long"), says()),)
    )
    before = place.snapshot()
    with ScriptedModel(script) as model:
        process = place.real(model.url)
        said = place.interrupt(process, lambda line: "wait for long" in line and _begun(), lambda: not _running())
    assert said.code == 130
    assert said.seconds < 5
    assert f"Cancelled. What was there by then is in {place.kept}; nothing of it still runs." in said.out
    assert (place.kept / "run.html").is_file()
    assert list(place.temp.iterdir()) == []
    assert place.snapshot() == before


def test_ctrl_c_before_the_run(make_place: MakePlace) -> None:
    """While CI still looks at the base, Ctrl-C ends that too and leaves nothing behind."""
    slow = CI.replace("python3 -m unittest -v", "python3 -c 'import time; time.sleep(299.25)'")
    place = make_place({".github/workflows/ci.yml": slow})
    process = place.start("--issue", place.issue, "--scripted")
    said = place.interrupt(process, lambda line: line.startswith("CI on `main`") and _begun(), lambda: not _running())
    assert said.code == 130
    assert said.seconds < 5
    assert said.out.endswith("Cancelled before the Run began. Nothing was kept, and nothing of it still runs.\n")
    assert list(place.temp.iterdir()) == []


def _running() -> bool:
    """Whether the Session's command runs."""
    return any(_is_sleep(entry) for entry in Path("/proc").glob("[0-9]*"))


def _begun() -> bool:
    """The same; waits a while for it to begin."""
    limit = Clock.reaction("sleep", 20)
    while not (_running() or limit.passed()):
        Clock.pause(0.05)
    return _running()


def _is_sleep(entry: Path) -> bool:
    with suppress(OSError):
        return (entry / "cmdline").read_bytes().endswith(b"\0import time; time.sleep(299.25)\0")
    return False


def test_money_is_asked_for(place: Place) -> None:
    """On a terminal the command asks before money is spent, and does nothing when told no; where nobody can be asked it
    wants `--yes`.
    """
    said = place.rehearse("--issue", place.issue, ANTHROPIC_API_KEY="sk-ant-x")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "nobody can be asked here whether to spend up to $10; add --yes" in said.err
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "bot", "rehearse", "--issue", place.issue, "--max-cost-usd", "4"]
    environ = place.environment(ANTHROPIC_API_KEY="sk-ant-x", TERM="xterm", COLUMNS="60", NO_COLOR="1")
    with subprocess.Popen(words, cwd=place.top, env=environ, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        os.write(ours, b"n\n")
        seen = b""
        with suppress(OSError):  # Linux tells the end so
            while part := os.read(ours, 65_536):
                seen += part
    os.close(ours)
    assert process.returncode == 130
    text = seen.decode().replace("\r\n", "\n")
    assert "Start? [y/N]" in text
    assert "Nothing was started." in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 60
    assert list(place.temp.iterdir()) == []


def test_an_issue_of_a_github(place: Place) -> None:
    """An issue's address is read in one request, with the user's token or without any; a refusal is one line."""
    with EmbeddedGitHub(place.folder / "hub", ci=False, prefix="/api/v3") as hub:
        repository = hub.create_repository("acme/widget", {"a": "b"}, private=True)
        number = repository.open_issue("Add multiplication", "As in the book.")
        url = f"{hub.server_url}/acme/widget/issues/{number}"
        hidden = place.rehearse("--issue", url, "--scripted")
        assert hidden.code == 2
        assert hidden.err.count("\n") == 1
        assert "404: Not Found; a private repository needs a token" in hidden.err
        given = ("--issue", url, "--scripted", "-o", str(place.kept))
        asked = len(hub.requests)
        said = place.rehearse(*given, GH_TOKEN=hub.issue_token("acme", "pat"))
        assert len(hub.requests) == asked + 1
    assert said.code == 0
    assert "Rehearsal of “Add multiplication”" in said.out
    assert "As in the book." in said.out


def test_bad_input_is_one_line(place: Place) -> None:
    """Whatever is wrong with the command line, the issue or the key is told in one line, before anything is made."""
    empty, binary = place.text("empty.md", " \n"), place.folder / "binary.md"
    binary.write_bytes(b"\xff\xfe\x00")
    ok = ("--issue", place.issue, "--scripted")
    for words, told in (
        (("--scripted",), "say which issue: --issue FILE"),
        (
            ("--issue", str(place.folder / "none.md"), "--scripted"),
            "none.md: cannot be read: No such file or directory",
        ),
        (("--issue", "-", "--scripted"), "--issue stdin: is empty"),
        (("--issue", empty, "--scripted"), "empty.md: is empty; the first line is the title"),
        (("--issue", str(binary), "--scripted"), "it is no UTF-8 text"),
        (("--issue", "https://github.com/acme/widget/pull/7", "--scripted"), "is no issue's address; give one such as"),
        ((*ok, "--base", "release"), "there is no branch `release`, here or on origin"),
        ((*ok, "--set", "max-repair=1"), "--set max-repair: there is no such setting; is it max-repairs?"),
        ((*ok, "--set", "max-repairs"), "give name=value"),
        ((*ok, "--set", "max-repairs=many"), "input `max-repairs`:"),
        ((*ok, "--set", "wait=park"), "--set wait: a rehearsal sets this itself"),
        ((*ok, "--set", "anthropic-api-key=x"), "is not taken from the command line"),
        ((*ok, "-o", str(place.top / "out")), "lies in the repository"),
        (("--issue", place.issue), "there is no key: set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN"),
    ):
        said = place.rehearse(*words)
        assert (said.code, said.err.count("\n")) == (2, 1), (words, said)
        assert said.err.startswith("nightjar rehearse: ")
        assert told in said.err
    assert list(place.temp.iterdir()) == []


def test_a_place_that_will_not_do(place: Place, tmp_path: Path) -> None:
    """Outside a repository, without a commit, in a shallow or a bare one: one line that says what to do."""

    def told(where: Path) -> str:
        said: Said = place.rehearse("--issue", place.issue, "--scripted", where=where)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
        return said.err

    assert "this folder is in no clone of a repository" in told(place.home)
    new, shallow = tmp_path / "new", tmp_path / "shallow"
    place.git("init", "-q", str(new))
    assert "this repository has no commit yet; commit first" in told(new)
    place.commit({"more.txt": "more\n"})
    place.git("clone", "-q", "--depth", "1", f"file://{place.top}", str(shallow))
    assert "this clone is shallow" in told(shallow)
    place.git("clone", "-q", "--bare", str(place.top), str(tmp_path / "bare"))
    assert "this is a bare repository" in told(tmp_path / "bare")


def test_another_base_and_no_branch(place: Place) -> None:
    """`--base` names the branch to start from; HEAD on no branch, submodules and LFS are told and do not stop it."""
    place.git("branch", "stable")
    place.commit({"later.txt": "later\n", ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    place.git("update-index", "--add", "--cacheinfo", f"160000,{place.git('rev-parse', 'HEAD')},vendor")
    place.git("commit", "-q", "-m", "A submodule")
    place.git("checkout", "-q", "--detach")
    said = place.rehearse("--issue", place.issue, "--scripted", "-o", str(place.kept / "one"), "--base", "stable")
    assert said.code == 0
    assert "`stable` at" in said.out
    assert "into stable" in said.out
    assert "HEAD is on no branch" not in said.out
    assert "submodules" not in said.out
    said = place.rehearse("--issue", place.issue, "--scripted", "-o", str(place.kept / "two"))
    assert said.code == 0
    for told in ("HEAD is on no branch: commit", "submodules: not part of it", "Git LFS: not part of it"):
        assert told in said.out
