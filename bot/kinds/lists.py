"""Kinds of several values: names, shell commands, arguments, texts by key. A file may list or map them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType

from bot.kinds.base import BLANKS, NOT_BLANK, PLAIN, Raw, Schema, refusal, shown, text_of, whole

# Never given to a Session, whatever `pass-env` says: the program's own credentials, and what steers the job.
NEVER_PASSED = (
    *("GITHUB_TOKEN", "GH_TOKEN", "INPUT_GITHUB_TOKEN", "INPUT_APP_PRIVATE_KEY"),
    *("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"),
    *("ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_CACHE_URL", "ACTIONS_RESULTS_URL"),
)

_REFUSED = {
    "format": (
        "--output-format --input-format --print -p --json-schema --verbose --include-partial-messages"
        " --include-hook-events --replay-user-messages --prompt-suggestions --forward-subagent-text"
    ),
    "conversation": (
        "--resume -r --continue -c --session-id --fork-session --from-pr --no-session-persistence --background --bg"
        " --cloud --desktop --remote-control --environment --worktree -w --tmux --ide --teleport --help -h --version -v"
    ),
    "permission": (
        "--permission-mode --permission-prompts --permission-prompt-tool --dangerously-skip-permissions"
        " --allow-dangerously-skip-permissions"
    ),
    "settings": "--settings --setting-sources --managed-settings --bare --restricted --safe-mode",
    "model and cost": "--model --max-budget-usd",
}
REFUSED_FLAGS: Mapping[str, str] = {flag: about for about, flags in _REFUSED.items() for flag in flags.split()}
"""What the program itself says to `claude`, or what would change what it relies on (`claude --help`, CLI 2.1.332)."""


@dataclass(frozen=True, slots=True)
class Names:
    """A list of names: a list in the file, or text with commas or line ends between them; `none` is the empty list."""

    what: str
    pattern: str

    @property
    def allowed(self) -> str:
        """What a name is."""
        return f"{self.what}, with commas between them, or none"

    @property
    def schema(self) -> Schema:
        """A list of names, or text with names."""
        name = f"(?:{self.pattern}|none)"
        between = r"[ \t\r]*[,\n][ \t\r\n,]*"
        text = f"^[ \\t\\r\\n,]*(?:{name}(?:{between}{name})*)?[ \\t\\r\\n,]*$"
        return {
            "anyOf": [
                {"type": "array", "items": {**PLAIN, "pattern": whole(name)}},
                {**PLAIN, "pattern": text},
            ]
        }

    def read(self, raw: Raw) -> tuple[str, ...]:
        """The names, in order, each once."""
        parts = raw if isinstance(raw, tuple) else re.split(r"[,\n]", text_of(raw))
        names = [name for part in parts if (name := part.strip(BLANKS))]
        if names == ["none"]:
            return ()
        for name in names:
            if not re.fullmatch(self.pattern, name):
                raise refusal(name)
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Variables:
    """Names of environment variables, `*` as a wildcard, but none that could match one of `NEVER_PASSED`."""

    allowed: str = "names of environment variables, * as a wildcard (AWS_*), with commas between them, or none"

    @property
    def schema(self) -> Schema:
        """Names of any variables."""
        return self._names().schema

    def read(self, raw: Raw) -> tuple[str, ...]:
        """The names and patterns."""
        names = self._names().read(raw)
        for name in names:
            caught = next((never for never in NEVER_PASSED if fnmatchcase(never, name)), None)
            if caught is not None or name.startswith("INPUT_"):
                raise ValueError(f"{shown(name)} is not allowed, because a Session never gets {caught or 'an input'}")
        return names

    def _names(self) -> Names:
        return Names("names", r"[A-Za-z_*][A-Za-z0-9_*]*")


@dataclass(frozen=True, slots=True)
class Commands:
    """Shell commands: one text is one script, a list in the file is one after the other."""

    allowed: str = "shell commands, as text or as a list"

    @property
    def schema(self) -> Schema:
        """Text, or a list of texts, none of them blank."""
        command = {**PLAIN, "pattern": NOT_BLANK}
        return {"anyOf": [{"type": "array", "items": command}, command]}

    def read(self, raw: Raw) -> tuple[str, ...]:
        """The commands."""
        parts = raw if isinstance(raw, tuple) else (text_of(raw),)
        return tuple(part.strip() for part in parts)


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments for `claude`, split as a shell would, or a list in the file; `REFUSED_FLAGS` are refused."""

    allowed: str = "arguments for claude, but none for format, conversation, permission, settings, model or cost"

    @property
    def schema(self) -> Schema:
        """Text, or a list of texts."""
        return {"anyOf": [{"type": "array", "items": PLAIN}, PLAIN]}

    def read(self, raw: Raw) -> tuple[str, ...]:
        """The arguments."""
        if isinstance(raw, tuple):
            words = list(raw)
        else:
            text = text_of(raw)
            try:
                words = shlex.split(text)
            except ValueError as error:
                raise ValueError(f"the quotes do not match ({error})") from error
        if words and not words[0].startswith("-"):
            raise ValueError(f"{shown(words[0])} is not allowed first, because claude would take it for the prompt")
        for word in words:
            if _flag(word) in REFUSED_FLAGS or word == "--":
                raise ValueError(f"{_flag(word)!r} is not allowed, because Nightjar itself decides that")
        return tuple(words)


def _flag(word: str) -> str:
    """`--flag=value` as `--flag`, `-pvalue` and `-pv` as `-p`; the CLI takes no other abbreviation."""
    return word.partition("=")[0] if word.startswith("--") else word[:2]


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts by kind of Session: a mapping in the file; plain text is for every kind."""

    keys: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """The keys."""
        return f"text, or in the file a mapping with the keys {', '.join(self.keys)}"

    @property
    def schema(self) -> Schema:
        """Text, or texts by key."""
        by_key = {"type": "object", "properties": dict.fromkeys(self.keys, PLAIN), "additionalProperties": False}
        return {"anyOf": [by_key, PLAIN]}

    def read(self, raw: Raw) -> Mapping[str, str]:
        """The texts by key, read-only; plain text under the first key."""
        if isinstance(raw, tuple):
            raise ValueError("a list is not allowed")
        texts = {self.keys[0]: raw} if isinstance(raw, str) else raw
        for key in texts:
            if key not in self.keys:
                raise ValueError(f"the key {shown(key)} is not allowed")
        return MappingProxyType({key: text.strip() for key, text in texts.items() if text.strip()})
