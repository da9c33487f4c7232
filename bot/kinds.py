"""The kinds of value a setting can have: each reads text, or a list or mapping of texts, and says what it allows.

A kind's `read` takes what the parser found (`str`, a tuple of `str`, or a mapping of `str` to `str`) and
returns the value or raises `ValueError` with what is wrong; `allowed` is the sentence after "give". Nothing
here is specific to one setting except by its arguments.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Protocol

Raw = str | tuple[str, ...] | Mapping[str, str]

# Only ASCII digits, no sign, no exponent: `٣٠`, `1e9`, `10m` and `-1` are slips, not numbers to guess at.
_WHOLE = re.compile(r"[0-9]{1,9}")
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?")
_TRUE_FALSE = MappingProxyType({"true": True, "false": False})

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


class Kind(Protocol):
    """How one setting's value is read and described."""

    @property
    def allowed(self) -> str:
        """What may be given, to follow "give"."""

    def read(self, raw: Raw) -> Any:
        """The value. Raises `ValueError` saying what is wrong with `raw`."""


def _text(raw: Raw) -> str:
    if isinstance(raw, str):
        return raw.strip()
    raise ValueError("a list is not allowed" if isinstance(raw, tuple) else "a mapping is not allowed")


def _refuse(text: str) -> ValueError:
    return ValueError(f"{_shown(text)} is not allowed")


def _shown(text: str) -> str:
    """What was given, quoted, in one line and short."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


@dataclass(frozen=True, slots=True)
class Text:
    """Text, one line unless `lines`; `pattern` must match all of it."""

    allowed: str = "one line of text"
    pattern: str = r".+"
    lines: bool = False

    def read(self, raw: Raw) -> str:
        """The text without surrounding blanks."""
        text = _text(raw)
        if (not self.lines and not text.isprintable()) or not re.fullmatch(self.pattern, text, re.DOTALL):
            raise _refuse(text)
        return text


_PEM = re.compile(
    r"-----BEGIN (?P<kind>RSA |)PRIVATE KEY-----\s+(?P<body>[A-Za-z0-9+/=\s]+)-----END (?P=kind)PRIVATE KEY-----"
)
_PEM_LINE = 64


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """A private key in PEM, as GitHub hands it out. Line ends may be written as `\\n`, or have become blanks."""

    allowed: str = "the whole .pem file that GitHub made, from -----BEGIN to -----END"

    def read(self, raw: Raw) -> str:
        """The key in PEM, in lines of the usual length. Whether it is one that signs is for who uses it to see."""
        found = _PEM.fullmatch(_text(raw).replace("\\r", "").replace("\\n", "\n").strip())
        if not found:
            raise ValueError("that is no private key in PEM")
        body = "".join(found["body"].split())
        lines = [body[start : start + _PEM_LINE] for start in range(0, len(body), _PEM_LINE)]
        name = f"{found['kind']}PRIVATE KEY"
        return "\n".join([f"-----BEGIN {name}-----", *lines, f"-----END {name}-----\n"])


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """The words."""
        return _either(self.words)

    def read(self, raw: Raw) -> str:
        """The word."""
        text = _text(raw)
        if text not in self.words:
            raise _refuse(text)
        return text


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""

    allowed: str = "true or false"

    def read(self, raw: Raw) -> bool:
        """The truth value."""
        text = _text(raw)
        if text.lower() not in _TRUE_FALSE:
            raise _refuse(text)
        return _TRUE_FALSE[text.lower()]


def is_on(text: str) -> bool:
    """What a repository's variable means: set to anything is on, but for nothing, `false`, `no`, `off` and `0`."""
    return text.strip().lower() not in {"", "false", "no", "off", "0"}


@dataclass(frozen=True, slots=True)
class Switch:
    """A repository's variable, as somebody sets it in a hurry."""

    allowed: str = "anything; false, no, off and 0 mean that it is not set"

    def read(self, raw: Raw) -> bool:
        """Whether it is set."""
        return is_on(_text(raw))


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number in a range."""

    low: int
    high: int

    @property
    def allowed(self) -> str:
        """The range."""
        return f"a whole number from {self.low} to {self.high}"

    def read(self, raw: Raw) -> int:
        """The number."""
        text = _text(raw)
        if not _WHOLE.fullmatch(text) or not self.low <= int(text) <= self.high:
            raise _refuse(text)
        return int(text)


@dataclass(frozen=True, slots=True)
class Decimal:
    """A number above 0 (or `zero` too, with its meaning in the setting's own help), up to `high`."""

    unit: str
    high: int
    zero: bool = False

    @property
    def allowed(self) -> str:
        """The range and unit."""
        return f"{self.unit}{' from 0' if self.zero else ' above 0, up'} to {self.high}"

    def read(self, raw: Raw) -> float:
        """The number, in `unit`."""
        text = _text(raw)
        if not _DECIMAL.fullmatch(text) or float(text) > self.high or (float(text) == 0 and not self.zero):
            raise _refuse(text)
        return float(text)


@dataclass(frozen=True, slots=True)
class Names:
    """A list of names: a list in the file, or text with commas or line ends between them; `none` is the empty list."""

    what: str
    pattern: str

    @property
    def allowed(self) -> str:
        """What a name is."""
        return f"{self.what}, with commas between them, or none"

    def read(self, raw: Raw) -> tuple[str, ...]:
        """The names, in order, each once."""
        parts = raw if isinstance(raw, tuple) else re.split(r"[,\n]", _text(raw))
        names = [part.strip() for part in parts if part.strip()]
        if names == ["none"]:
            return ()
        for name in names:
            if not re.fullmatch(self.pattern, name):
                raise _refuse(name)
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Variables:
    """Names of environment variables, `*` as a wildcard, but none that could match one of `NEVER_PASSED`."""

    allowed: str = "names of environment variables, * as a wildcard (AWS_*), with commas between them, or none"

    def read(self, raw: Raw) -> tuple[str, ...]:
        """The names and patterns."""
        names = Names("names", r"[A-Za-z_*][A-Za-z0-9_*]*").read(raw)
        for name in names:
            caught = next((never for never in NEVER_PASSED if fnmatchcase(never, name)), None)
            if caught is not None or name.startswith("INPUT_"):
                raise ValueError(f"{_shown(name)} is not allowed, because a Session never gets {caught or 'an input'}")
        return names


@dataclass(frozen=True, slots=True)
class Commands:
    """Shell commands: one text is one script, a list in the file is one after the other."""

    allowed: str = "shell commands, as text or as a list"

    def read(self, raw: Raw) -> tuple[str, ...]:
        """The commands."""
        parts = raw if isinstance(raw, tuple) else (_text(raw),)
        if not all(part.strip() for part in parts):
            raise ValueError("an empty command is not allowed")
        return tuple(part.strip() for part in parts)


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments for `claude`, split as a shell would, or a list in the file; `REFUSED_FLAGS` are refused."""

    allowed: str = "arguments for claude, but none for format, conversation, permission, settings, model or cost"

    def read(self, raw: Raw) -> tuple[str, ...]:
        """The arguments."""
        if isinstance(raw, tuple):
            words = list(raw)
        else:
            try:
                words = shlex.split(_text(raw))
            except ValueError as error:
                raise ValueError(f"the quotes do not match ({error})") from error
        if words and not words[0].startswith("-"):
            raise ValueError(f"{_shown(words[0])} is not allowed first, because claude would take it for the prompt")
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

    def read(self, raw: Raw) -> Mapping[str, str]:
        """The texts by key, read-only; plain text under the first key."""
        if isinstance(raw, tuple):
            raise ValueError("a list is not allowed")
        texts = {self.keys[0]: raw} if isinstance(raw, str) else raw
        for key in texts:
            if key not in self.keys:
                raise ValueError(f"the key {_shown(key)} is not allowed")
        return MappingProxyType({key: text.strip() for key, text in texts.items() if text.strip()})


@dataclass(frozen=True, slots=True)
class RefPart:
    """A branch's name, or with `suffix` the beginning of one, as git allows it (git-check-ref-format)."""

    allowed: str
    suffix: str = ""

    def read(self, raw: Raw) -> str:
        """The name."""
        text = _text(raw)
        name = text + self.suffix
        bad = re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\.$|/$|^[-/]|^refs/", name)
        parts = name.split("/")
        if (
            bad
            or len(name) > 200
            or name == "@"
            or any(part.startswith(".") or part.endswith(".lock") for part in parts)
        ):
            raise _refuse(text)
        return text


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder inside the checkout."""

    allowed: str = "a folder inside the repository, as a relative path"

    def read(self, raw: Raw) -> str:
        """The path with `/` between its parts and none at the end."""
        text = _text(raw)
        parts = [part for part in text.split("/") if part not in ("", ".")]
        if not text.isprintable() or text.startswith(("/", "~")) or "\\" in text or ".." in parts or ".git" in parts:
            raise _refuse(text)
        return "/".join(parts) or "."


def _either(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
