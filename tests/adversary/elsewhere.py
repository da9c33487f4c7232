"""Attempts that other tests make, where what is attacked is tested: what strangers send, and what leaves the runner."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """An attempt that a test of another folder makes; `what` completes "somebody …"."""

    id: str
    what: str
    test: str
    """Its id without parameters."""


_TRUST = "tests/run/test_trust.py::"
ELSEWHERE = (
    Elsewhere(
        "asks-without-the-permission",
        "sets the label without the permission, on an issue of somebody who has it",
        f"{_TRUST}test_sender_without_the_permission",
    ),
    Elsewhere("asks-as-a-bot", "sets the label as a bot that is not named", f"{_TRUST}test_bot_as_sender"),
    Elsewhere("asks-as-nightjar", "has Nightjar's own bot, which is named, set the label", f"{_TRUST}test_own_bot"),
    Elsewhere(
        "asks-while-github-is-silent",
        "asks while GitHub does not say what they may do",
        f"{_TRUST}test_permission_that_cannot_be_asked",
    ),
    Elsewhere(
        "edits-what-was-approved",
        "edits the issue or a comment after the label",
        f"{_TRUST}test_what_is_edited_after_the_label_is_not_read",
    ),
    Elsewhere(
        "hides-text-from-people",
        "writes what a Session reads and a person does not see",
        f"{_TRUST}test_what_nobody_sees_is_not_read",
    ),
    Elsewhere(
        "runs-code-on-a-persistent-runner",
        "has code run on a public repository's own, persistent runner",
        f"{_TRUST}test_public_repository_on_a_persistent_runner",
    ),
    Elsewhere(
        "offers-a-forks-branch",
        "opens a pull request from a fork whose branch is named as the Issue branch",
        f"{_TRUST}test_a_forks_pull_request_is_not_taken_up",
    ),
    Elsewhere(
        "forges-nightjars-own-marks",
        "writes the marks by which Nightjar knows its own comments",
        "tests/test_guard.py::test_our_own_marker_cannot_be_quoted",
    ),
    Elsewhere(
        "forges-outputs",
        "forges the step's outputs by a text with line breaks and a delimiter",
        "tests/report/test_reporter.py::test_outputs_cannot_be_forged",
    ),
    Elsewhere(
        "calls-people-and-closes-issues",
        "mentions people, closes issues and gives the runner commands by a Session's last words",
        f"{_TRUST}test_a_session_that_says_commands",
    ),
    Elsewhere(
        "plants-agent-settings",
        "leaves settings, hooks, MCP servers, agents, skills and instructions for the next Session",
        "tests/run/test_agent_settings.py::test_planted",
    ),
    Elsewhere(
        "turns-a-push-elsewhere",
        "plants addresses and proxies that would take the credential elsewhere",
        "tests/git/test_workspace.py::test_planted_redirection",
    ),
    Elsewhere(
        "plants-a-filter",
        "plants filters that git would run",
        "tests/git/test_machine.py::test_planted_filter",
    ),
    Elsewhere(
        "commits-a-key",
        "commits a key, in a file, a message, a name, an author, in base64 or in pieces",
        "tests/git/test_leaving.py::test_a_secret_does_not_leave",
    ),
    Elsewhere(
        "commits-a-key-and-takes-it-out",
        "commits a key and takes it out in the next commit",
        "tests/run/test_secrets.py::test_a_secret_in_the_diff_is_not_pushed",
    ),
    Elsewhere(
        "says-a-key-in-its-last-words",
        "ends with a key in its last words",
        "tests/run/test_secrets.py::test_last_words_with_a_secret",
    ),
    Elsewhere(
        "notes-a-key",
        "hands over a note with a key",
        "tests/run/test_secrets.py::test_notes_and_evidence_with_a_secret",
    ),
    Elsewhere(
        "hands-over-a-named-pipe",
        "hands over a pipe that nobody writes to",
        "tests/test_handover.py::test_named_pipe",
    ),
    Elsewhere("hands-over-too-much", "hands over an endless file", "tests/test_handover.py::test_huge_file"),
    Elsewhere(
        "commits-a-link",
        "commits a link that leads out of the repository",
        f"{_TRUST}test_links_are_not_followed_and_are_shown",
    ),
    Elsewhere(
        "changes-protected-files",
        "changes workflows, code owners or Nightjar's settings",
        "tests/run/test_rounds.py::test_a_protected_file_is_not_pushed",
    ),
    Elsewhere("cheats-ci", "makes CI green by weakening it", f"{_TRUST}test_cheats_are_on_top"),
    Elsewhere(
        "names-another-host-to-the-forwarder",
        "has the forwarder give the key to another path, host or method of the API",
        "tests/forwarder/test_credential.py::test_only_what_a_session_needs_passes",
    ),
    Elsewhere(
        "has-the-forwarder-show-the-key",
        "has the forwarder show the key in an error, a log or a repr",
        "tests/forwarder/test_credential.py::test_nothing_shows_the_credential",
    ),
)
