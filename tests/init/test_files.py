"""What `init` would write, and to which GitHub it would show a token: rules without a clone."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ci.found import CiWorkflow, FoundCi, find_ci, watched_names
from bot.clone.address import Address, address_of
from bot.config import read_config
from bot.init.files import _PACKAGED, OWN, SETTINGS_FILE, WAKE, shipped, wake_text, wanted_files
from bot.init.plan import Standing, planned
from bot.init.reading import settings_alone
from bot.init.settings_text import settings_text
from bot.init.words import left_to_do
from bot.placing import CannotPlace, place, there
from bot.settings import PROFILES, SETTINGS
from tests.init.desk import ROOT


def test_the_settings_file_shows_every_setting_at_its_default() -> None:
    """As it is it changes nothing, and with every default uncommented it still changes nothing."""
    text = settings_text(SETTINGS.values())
    assert settings_alone(text) == settings_alone(None)
    _, _, body = text.partition("\n")
    lines = re.findall(r"^# ([a-z-]+): (?! #)(.+)$", body, re.MULTILINE)
    named = set(re.findall(r"^# ([a-z-]+):", body, re.MULTILINE))
    assert named == {name for name, setting in SETTINGS.items() if setting.in_file} | {PROFILES}
    assert settings_alone("".join(f"{name}: {value}\n" for name, value in lines)) == settings_alone(None)
    assert len(lines) > 20
    assert all(len(line) <= 120 for line in text.splitlines()[1:])


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=5, unique=True))
def test_any_name_of_a_workflow_reaches_the_second_one(names: list[str]) -> None:
    """Whatever CI is called, the second workflow waits for exactly that."""
    names = [name.strip().encode("utf-8", "replace").decode() for name in names]
    found = FoundCi(tuple(CiWorkflow("", name, (), False, ()) for name in names))
    assert watched_names(wake_text(shipped(WAKE), found)) == tuple(dict.fromkeys(names))


def test_a_wheel_has_the_workflows_where_they_are_looked_for() -> None:
    """What is packed from `.github/workflows` lies beside the module that reads it."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    packed = build["wheel"]["force-include"]
    assert packed == {path: str((_PACKAGED / Path(path).name).relative_to(ROOT)) for path in OWN}
    assert {f"/{path}" for path in OWN} <= set(build["sdist"]["include"])


def test_other_line_ends_are_no_difference() -> None:
    """A file that git has checked out with other line ends is the same file."""
    for wanted in wanted_files(FoundCi()):
        assert planned(wanted, wanted.text.replace("\n", "\r\n")).standing is Standing.SAME
        assert planned(wanted, None).diff.startswith(f"--- /dev/null\n+++ b/{wanted.path}\n")


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    """A file that appears in the last moment stays as it is, a link that leads nowhere too, and no draft is left."""
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for name in ("dangling", "file"):
        with pytest.raises(CannotPlace, match="somebody else has put one there"):
            place(tmp_path, name, "theirs")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "file"]
    assert there(tmp_path, "file") == "mine"
    assert there(tmp_path, "none") is None


USES_SECRETS = """\
name: A
on: push
env: {T: "${{ secrets.NPM_TOKEN || secrets['B_KEY'] }}", G: "${{ secrets.GITHUB_TOKEN }}"} # ${{ secrets.NOT_USED }}
"""
CI = "name: A\non: {pull_request: {branches: [main]}}\njobs: {}\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CI, ("A", ("pull_request",), False, ())),
        (CI.replace("[main]", "[release]"), None),
        ("on: push\njobs: {}\n", (".github/workflows/x.yml", ("push",), False, ())),
        ("on: {push: {branches: [main]}}\njobs: {}\n", None),
        ("on: {push: {tags: ['v*']}}\njobs: {}\n", None),
        ("on: [workflow_dispatch, schedule]\njobs: {}\n", None),
        ("name: A\non: [pull_request_target, workflow_dispatch]\n", ("A", ("pull_request_target",), True, ())),
        (
            USES_SECRETS,
            ("A", ("push",), False, ("B_KEY", "NPM_TOKEN")),
        ),
        ("name: A\non: push\njobs: {a: {uses: ./b.yml, secrets: inherit}}\n", ("A", ("push",), False, ("*",))),
        ("name: A\non: push\nenv: {T: '${{ toJSON(secrets) }}'}\n", ("A", ("push",), False, ("*",))),
    ],
)
def test_which_workflows_are_ci(text: str, found: tuple[object, ...] | None) -> None:
    """What starts for an Issue branch or its pull request is CI, with what it is called and which secrets it uses."""
    path = ".github/workflows/x.yml"
    seen = find_ci({path: text}, branch="nightjar/issue-1", base="main").workflows
    shown = [(one.name, one.started_by, one.dispatchable, one.secrets) for one in seen]
    assert shown == ([] if found is None else [found])


@pytest.mark.parametrize(
    ("address", "how"),
    [
        (Address("https://github.com", "a/b"), "github.com has a person approve each run."),
        (Address("https://git.acme.example", "a/b"), "an Enterprise Server starts nothing for it."),
        (None, "an Enterprise Server starts nothing for it, github.com has a person approve each run."),
    ],
)
def test_why_a_token_is_needed(address: Address | None, how: str) -> None:
    """It is said what the server of this very repository does with what the job's own token pushes."""
    ci = CiWorkflow(".github/workflows/ci.yml", "CI", ("pull_request",), False, ())
    lines = left_to_do(FoundCi((ci,)), address, "main")
    (why,) = [line for line in lines if "Without it Runs use the job's own token" in line]
    assert why.endswith(f"does not start CI (pull_request): {how}")


def test_nightjars_own_workflows_are_no_ci() -> None:
    """Whatever has become of them, they are neither CI nor said to be CI that cannot be read."""
    files = dict.fromkeys(OWN, "on: [\n") | {".github/workflows/b.yml": "on: [\n"}
    found = find_ci(files, branch="nightjar/issue-1", base="main", own=OWN)
    assert found.workflows == ()
    (why,) = found.unreadable
    assert why.startswith(".github/workflows/b.yml: not YAML")


@pytest.mark.parametrize(
    ("url", "server", "api"),
    [
        ("https://github.com/acme/widget.git", "https://github.com", "https://api.github.com"),
        ("https://alice:secret@github.com/acme/widget", "https://github.com", "https://api.github.com"),
        ("git@github.com:acme/widget.git", "https://github.com", "https://api.github.com"),
        ("ssh://git@ssh.github.com:443/acme/widget.git", "https://github.com", "https://api.github.com"),
        ("git@GitHub.com:acme/widget/", "https://github.com", "https://api.github.com"),
        ("https://acme.ghe.com/acme/widget", "https://acme.ghe.com", "https://api.acme.ghe.com"),
        ("git@git.acme.example:acme/widget.git", "https://git.acme.example", "https://git.acme.example/api/v3"),
        ("ssh://git@git.acme.example:2222/acme/widget", "https://git.acme.example", "https://git.acme.example/api/v3"),
        ("http://git.acme.example/acme/widget", "https://git.acme.example", "https://git.acme.example/api/v3"),
        ("https://git.acme.example:8443/a/b", "https://git.acme.example:8443", "https://git.acme.example:8443/api/v3"),
        ("http://127.0.0.1:80/acme/widget.git", "http://127.0.0.1:80", "http://127.0.0.1:80/api/v3"),
    ],
)
def test_addresses(url: str, server: str, api: str) -> None:
    """A remote in any of its forms names the server, the repository and where the API is; no login in it is kept."""
    address = address_of(url)
    assert address == Address(server, "a/b" if url.endswith("/a/b") else "acme/widget")
    assert address.api({}) == api


@pytest.mark.parametrize(
    "url",
    ["", "/srv/git/widget.git", "../widget", "https://github.com/widget", "work:acme/widget", "file:///a/b", "a/b"],
)
def test_what_is_no_github(url: str) -> None:
    """A path, a name of one part and an alias of somebody's ssh name no repository of a GitHub."""
    assert address_of(url) is None


@pytest.mark.parametrize(
    ("server", "environ", "variables"),
    [
        ("https://github.com", {}, "GH_TOKEN GITHUB_TOKEN"),
        ("https://acme.ghe.com", {}, "GH_TOKEN GITHUB_TOKEN"),
        ("https://git.acme.example", {}, "GH_ENTERPRISE_TOKEN GITHUB_ENTERPRISE_TOKEN"),
        ("https://github.com.evil.example", {}, "GH_ENTERPRISE_TOKEN GITHUB_ENTERPRISE_TOKEN"),
        ("https://127.0.0.1.evil.example", {}, "GH_ENTERPRISE_TOKEN GITHUB_ENTERPRISE_TOKEN"),
        ("https://git.acme.example", {"GITHUB_SERVER_URL": "https://git.acme.example"}, "GH_TOKEN GITHUB_TOKEN"),
    ],
)
def test_a_token_for_github_is_not_for_any_host(server: str, environ: dict[str, str], variables: str) -> None:
    """A token for github.com is shown to no server that a clone happens to name."""
    assert Address(server, "acme/widget").variables(environ) == tuple(variables.split())


def test_a_file_may_hold_what_it_shows(tmp_path: Path) -> None:
    """The written settings file is read with a job's inputs like any other."""
    text = settings_text(SETTINGS.values())
    inputs = {"INPUT_GITHUB_TOKEN": "x", "INPUT_ANTHROPIC_API_KEY": "y", "INPUT_MODEL": "opus"}
    assert read_config(inputs, text, SETTINGS_FILE).model == "opus"
