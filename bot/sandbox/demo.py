"""`nightjar demo`: plays stories on this machine and shows them as GitHub's pages would.

Real are the command, the `claude` CLI, git and its HTTP, and the CI that runs the sample repository's own workflow.
Ours are the GitHub that they talk to and the model's words. Each story says what it expects; one that does not get it
makes the exit code 1.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bot.clock import Clock
from bot.report.console import Console, refuse
from bot.sandbox.cli import ClaudeNotBundled, bundled_claude
from bot.sandbox.github import EmbeddedGitHub
from bot.sandbox.job import Job, Server
from bot.sandbox.model import ScriptedModel
from bot.sandbox.stories import STORIES, Played, Story, sample_files
from bot.sandbox.timeline import as_markdown, as_text, entries

SCALE = 20.0
"""A planned minute passes in three seconds: polls, retries, the Hold limit."""
UNUSABLE = 2
_REPOSITORY = "acme/widget"


def demo_command(names: Sequence[str], out: str, environ: Mapping[str, str]) -> int:
    """Play the named stories (all without names); the exit code."""
    unknown = [name for name in names if name not in STORIES]
    if unknown:
        return refuse("demo", f"there is no story {unknown[0]!r}; give {', '.join(STORIES)}", UNUSABLE)
    folder = Path(out)
    try:
        claude = bundled_claude()
        folder.mkdir(parents=True, exist_ok=True)
    except ClaudeNotBundled as missing:
        return refuse("demo", str(missing), UNUSABLE)
    except OSError as error:
        return refuse("demo", f"the folder {out} cannot be made: {error.strerror}", UNUSABLE)
    console = Console.of(sys.stdout, environ)
    began = Clock.now()
    good = [_show(STORIES[name], claude, folder, console) for name in names or STORIES]
    told = f"{sum(good)} of {len(good)} stories went as they should"
    console.lines([f"{told}, in {Clock.now() - began:.0f} s; as Markdown in {folder}"])
    return 0 if all(good) else 1


def _show(story: Story, claude: Path, out: Path, console: Console) -> bool:
    def lines(text: str) -> None:
        console.lines([line.replace("\t", "    ") for line in text.split("\n")])

    lines(f"═══ {story.title} ═══\n{story.about}\n")
    with tempfile.TemporaryDirectory(prefix="nightjar-demo-") as temp:
        folder = Path(temp)
        with EmbeddedGitHub(folder / "github") as hub, ScriptedModel(story.script) as model:
            played = play(story, hub, model.url, claude, folder / "job", lambda line: lines(f"    {line}"))
            pages = _pages(played)
            missed = [expectation.text for expectation in story.expectations if not expectation.holds(played)]
            for title, number in pages:
                lines("")
                lines(as_text(title, entries(played.repository, number)).rstrip("\n"))
            markdown = "\n".join(as_markdown(title, entries(played.repository, number)) for title, number in pages)
    outcome = [
        f"- {'MISSED' if expectation.text in missed else 'ok'}: {expectation.text}"
        for expectation in story.expectations
    ]
    told = "\n".join(outcome)
    (out / f"{story.name}.md").write_text(
        f"# {story.title}\n\n{story.about}\n\n{markdown}\n## What was expected\n\n{told}\n", encoding="utf-8"
    )
    lines(f"\nWhat was expected:\n{told}\n")
    if missed:
        print(f"The job's log:\n{played.job.log}", file=sys.stderr)
    return not missed


def play(
    story: Story, hub: EmbeddedGitHub, model_url: str, claude: Path, folder: Path, line: Callable[[str], None]
) -> Played:
    """Dana opens the issue, Alice labels it, the job runs; `line` hears each line of its log."""
    repository = hub.create_repository(_REPOSITORY, sample_files())
    for login, role in (("alice", "write"), ("dana", "read")):
        hub.add_user(login)
        repository.set_permission(login, role)  # type: ignore[arg-type]  # a literal of roles
    issue = repository.open_issue(story.issue_title, story.issue_body, author="dana")
    server = Server(hub.api_url, hub.server_url, _REPOSITORY, hub.issue_token("nightjar[bot]"))
    job = Job(folder, server, model_url=model_url, claude=claude, scale=SCALE)
    finished = job.run(repository.label_issue(issue, "nightjar", actor="alice"), story.settings, line=line)
    return Played(repository, issue, finished)


def _pages(played: Played) -> list[tuple[str, int]]:
    issue = played.repository.issue(played.issue)
    pages = [(f"Issue #{played.issue}: {issue.title}", played.issue)]
    return pages + [
        (f"Pull request #{pull.number}: {pull.title}", pull.number) for pull in played.repository.pull_requests()
    ]
