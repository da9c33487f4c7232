"""`nightjar doctor` at a terminal, in a clone: looks for what would make Runs fail, and changes nothing."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot.cancel import Cancelled
from bot.clock import BadTimeScale, Clock
from bot.clone.address import Address
from bot.clone.folder import Clone, NoClone, find_clone
from bot.config import SETTINGS_FILE, Config, Secret
from bot.doctor.examination import counted, examine
from bot.doctor.facts import Answered, Facts, Hub, NoAnswer, Refusal, Token, Unknown
from bot.doctor.reading import files_facts
from bot.doctor.words import GIVE_A_KEY, GIVE_A_TOKEN, Finding, Level
from bot.examining import ask_claude, ask_github, git_version
from bot.github.client import Client
from bot.init.reading import settings_alone
from bot.own_token import NoToken, own_token
from bot.report.console import Console, refuse

FAILED = 1
UNUSABLE = 2
INTERRUPTED = 130
_OFFLINE = "not asked: --offline"
_KEYS = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN")


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    as_json: bool = False
    offline: bool = False
    token_file: str | None = None
    remote: str = "origin"


def doctor_command(options: Options, folder: Path, environ: Mapping[str, str]) -> int:
    """Look at the repository that `folder` lies in a clone of; the exit code. `environ` is not the process's own: that
    may have been emptied.
    """
    try:
        clone = find_clone(folder, environ, options.remote)
        clock = Clock.from_environment(environ)
        facts = _facts(clone, options, environ, clock)
    except (NoClone, NoToken, BadTimeScale) as problem:
        return refuse("doctor", str(problem), UNUSABLE)
    except (KeyboardInterrupt, Cancelled):
        return INTERRUPTED
    findings = examine(facts)
    repository = clone.address.repository if clone.address else str(clone.top)
    console = Console.of(sys.stdout, environ)
    if options.as_json:
        console.exact(as_json(repository, findings))
    else:
        console.lines([f"{repository}:", *(f"{one.level}\t{one.check}\t{one.line}" for one in findings), ""])
        console.lines([counted(findings)])
    return FAILED if any(one.level is Level.FAILURE for one in findings) else 0


def as_json(repository: str, findings: Sequence[Finding]) -> str:
    """All that was found, for other programs."""
    rows = [{"check": one.check, "level": str(one.level), "text": one.text, "remedy": one.remedy} for one in findings]
    levels = {str(level): sum(1 for one in findings if one.level is level) for level in Level}
    return json.dumps({"repository": repository, "counts": levels, "checks": rows}, indent=2, ensure_ascii=False) + "\n"


def _facts(clone: Clone, options: Options, environ: Mapping[str, str], clock: Clock) -> Facts:
    """Raises `NoToken`, `Cancelled`."""
    files = files_facts(clone.files(), clone.read(SETTINGS_FILE), clone.default_branch, settings_alone)
    unasked = Unknown(_OFFLINE if options.offline else clone.no_address)
    token: Token | Refusal | Unknown = unasked
    hub: Hub | Unknown = unasked
    if clone.address is not None and not options.offline:
        token, hub = _asked(clone.address, options, environ, clock, files.config)
    claude = Unknown(_OFFLINE) if options.offline else _claude(files.config, environ, clock)
    return Facts(in_job=False, files=files, git=git_version(environ), token=token, hub=hub, claude=claude)


def _asked(
    address: Address, options: Options, environ: Mapping[str, str], clock: Clock, config: Config
) -> tuple[Token | Refusal | Unknown, Hub | Unknown]:
    """What GitHub told. Raises `NoToken` for a token that cannot be shown."""
    given = own_token(address, environ, options.token_file)
    if given is None:
        why = f"there is no token in {' or '.join(address.variables(environ))}"
        return Unknown(why, GIVE_A_TOKEN), Unknown(why)
    client = Client(address.api(environ), address.repository, given.credential, clock, attempts=1)
    try:
        return ask_github(client, given.credential, given.source, config)
    finally:
        client.close()


def _claude(config: Config, environ: Mapping[str, str], clock: Clock) -> Answered | NoAnswer | Unknown:
    """claude's answer, where there is one to ask, and a key for it."""
    if sys.platform != "linux":
        return Unknown(f"asked on Linux only, where Runs happen, not on {sys.platform}")
    key, token = (environ.get(name, "").strip() for name in _KEYS)
    if not (key or token):
        return Unknown(f"there is no key in {' or '.join(_KEYS)}", GIVE_A_KEY)
    path = config.claude_path or shutil.which("claude", path=environ.get("PATH")) or _bundled()
    if path is None:
        return Unknown(f"there is none on this machine; jobs install {config.claude_version}")
    given = replace(
        config,
        claude_path=path,
        anthropic_api_key=Secret(key) if key else None,
        claude_code_oauth_token=Secret(token) if token and not key else None,
    )
    return ask_claude(given, environ, clock, lambda _: None, None)


def _bundled() -> str | None:
    """The CLI that comes with the sandbox, where that is installed."""
    from bot.sandbox.cli import ClaudeNotBundled, bundled_claude

    try:
        return str(bundled_claude())
    except ClaudeNotBundled:
        return None
