"""What the repository's own files say: settings, git, the two workflows. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.ci.found import CiWorkflow, watched_names
from bot.doctor.facts import Facts, Hub
from bot.doctor.shipped import condition_of, lets_through, readable, starts_on
from bot.doctor.words import Finding, Level, say, unknown
from bot.init.files import SETTINGS_FILE, WAKE, WORKFLOW
from bot.settings import SETTINGS

_SHIPPED = f"{SETTINGS['label'].default}:"
"""How labels begin that the shipped workflow lets through."""
_BRANCH = re.compile(r"startsWith\(\s*github\.event\.pull_request\.head\.ref,\s*'([^']+)'\s*\)", re.IGNORECASE)
LEAST_GIT = (2, 31)
"""The first that takes configuration from the environment, where credentials stand in no argument."""


def settings(facts: Facts) -> Finding:
    """The settings file, and in a job the inputs."""
    if facts.files.problems:
        return say("settings.bad", problems="; ".join(facts.files.problems), file=SETTINGS_FILE)
    return say("settings.read", file=SETTINGS_FILE) if facts.files.settings else say("settings.none")


def git(facts: Facts) -> Finding:
    """git itself, and in whose name it commits."""
    config, least = facts.files.config, ".".join(map(str, LEAST_GIT))
    if facts.git is None:
        return say("git.missing", least=least)
    if _numbers(facts.git) < LEAST_GIT:
        return say("git.old", version=facts.git, least=least)
    given = (config.git_user_name, config.git_user_email)
    defaults = (SETTINGS["git-user-name"].default, SETTINGS["git-user-email"].default)
    name, email = given
    if (name == defaults[0]) is not (email == defaults[1]):
        return say("git.half", name=name, email=email, file=SETTINGS_FILE)
    return say("git.there", version=facts.git, name=name, email=email)


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")
    return tuple(int(part) for part in parts[:2] if part.isdigit())


def workflow(facts: Facts) -> Finding:
    """The workflow that starts on the label."""
    text, label = facts.files.workflow, facts.files.config.label
    if facts.files.unread:
        return unknown("workflow", facts.files.unread)
    if text is None:
        return say("workflow.missing", file=WORKFLOW)
    if why := readable(WORKFLOW, text):
        return say("workflow.unreadable", why=why, file=WORKFLOW)
    if not starts_on(text, "issues", "labeled"):
        return say("workflow.deaf", file=WORKFLOW)
    asking, condition = facts.files.config.asking, condition_of(text)
    if unheard := [one for one in (asking.asked, *asking.profiles) if not lets_through(condition, one)]:
        key = "workflow.older" if all(one.startswith(_SHIPPED) for one in unheard) else "workflow.label"
        return say(key, label=listed(unheard, "and"), file=WORKFLOW)
    if isinstance(facts.hub, Hub) and facts.hub.on_default is False:
        return say("workflow.unpushed", file=WORKFLOW, branch=facts.hub.default_branch)
    return say("workflow.there", file=WORKFLOW, label=label)


def commands(facts: Facts) -> Finding:
    """Whether comments and reviews reach Nightjar."""
    text, config = facts.files.workflow, facts.files.config
    if facts.files.unread:
        return unknown("commands", facts.files.unread)
    if text is None or readable(WORKFLOW, text):
        return unknown("commands", f"there is no {WORKFLOW} that can be read")
    if not starts_on(text, "issue_comment", "created"):
        return say("commands.unheard", file=WORKFLOW)
    condition = condition_of(text)
    if condition and "comment" not in condition:
        return say("commands.stopped", file=WORKFLOW)
    if not config.repair_on_review:
        return say("commands.heard", file=WORKFLOW)
    if not starts_on(text, "pull_request_review", "submitted"):
        return say("commands.reviews", file=WORKFLOW)
    branch, beginnings = f"{config.branch_prefix}issue-", _BRANCH.findall(condition)
    if beginnings and not any(map(branch.startswith, beginnings)):
        return say("commands.branches", file=WORKFLOW, named=listed(beginnings), branch=branch)
    return say("commands.both", file=WORKFLOW)


def wake(facts: Facts) -> Finding:
    """The workflow that takes up what waits. Where Runs park for CI it has to know the CI that is here."""
    files = facts.files
    if files.unread:
        return unknown("wake", files.unread)
    worse = Level.FAILURE if files.config.wait == "park" else Level.WARNING
    if files.wake is None:
        return say("wake.missing", worse, file=WAKE)
    if why := readable(WAKE, files.wake):
        return say("wake.unreadable", why=why, file=WAKE)
    named, here = watched_names(files.wake), files.ci.workflows
    strangers = [name for name in named if name not in files.names]
    if strangers and here:
        known = ", ".join(workflow.name for workflow in here)
        return say("wake.others", worse, file=WAKE, names=listed(strangers), known=known)
    lacking = [workflow.name for workflow in here if workflow.name not in named]
    if lacking:
        return say("wake.lacks", worse, file=WAKE, names=listed(lacking))
    return say("wake.there", file=WAKE, names=listed(named)) if here else say("wake.hourly", file=WAKE)


def listed(names: Iterable[str], joint: str = "or") -> str:
    """Names in a sentence."""
    *before, last = names
    return f"{', '.join(before)} {joint} {last}" if before else last


def files_of(workflows: Iterable[CiWorkflow]) -> str:
    """CI's workflows in a sentence, by name and file."""
    return listed([f"{workflow.name} ({workflow.file})" for workflow in workflows], "and")
