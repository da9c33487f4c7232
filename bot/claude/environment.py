"""What a Session gets to see of the job's environment. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from bot.guard import Redactor
from bot.isolation.names import looks_secret
from bot.kinds import NEVER_PASSED

FAMILIES = ("ACTIONS_", "ANTHROPIC_", "CLAUDE", "GITHUB_", "GIT_", "INPUT_", "NIGHTJAR_", "RUNNER_", "STATE_")
"""How the names begin of what the runner, the action and the CLI have for themselves, and of what steers git."""
HARMLESS = frozenset(("GITHUB_ACTIONS", "RUNNER_ARCH", "RUNNER_OS", "RUNNER_TOOL_CACHE", "ANTHROPIC_BASE_URL"))
"""Of these, what builds ask for. `CI` is in no family and stays as well."""
PLACES = frozenset(
    (
        *("HOME", "MAIL", "PWD", "OLDPWD", "TMPDIR", "TEMP", "TMP"),
        *("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"),
        *("GH_CONFIG_DIR", "DOCKER_CONFIG", "NPM_CONFIG_USERCONFIG", "KUBECONFIG", "CLOUDSDK_CONFIG", "GNUPGHOME"),
        *("DBUS_SESSION_BUS_ADDRESS", "SSH_AGENT_PID", "SUDO_USER", "SUDO_UID", "SUDO_GID", "SUDO_COMMAND"),
    )
)
"""Where the runner's user lives, and where tools keep that user's logins: a Session has a home of its own."""
TOOLCHAIN_HOMES = {
    "ASDF_DATA_DIR": ".asdf",
    "NVM_DIR": ".nvm",
    "PYENV_ROOT": ".pyenv",
    "RBENV_ROOT": ".rbenv",
    "RUSTUP_HOME": ".rustup",
    "SDKMAN_DIR": ".sdkman",
}
"""Where version managers look for what is installed when the variable is unset: in the runner's home."""
_CREDENTIAL = 16
"""Characters that a credential has at least: a shorter value of such a variable is a name or a number."""
_GITHUB_TOKEN = re.compile(r"\bgh[pousr]_[A-Za-z0-9_.-]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}")


@dataclass(frozen=True, slots=True)
class Kept:
    """What is left of an environment, and the names of what is not, sorted."""

    variables: Mapping[str, str]
    dropped: tuple[str, ...]


def session_environment(environ: Mapping[str, str], secrets: Iterable[str], pass_env: Iterable[str]) -> Kept:
    """All that the job set up, less: every variable with one of `secrets` in its value, however it is written there;
    names and values that look like a credential; what the runner has for itself and where its user lives. `pass_env`
    (names, `*` as a wildcard) brings the last two back, but none of `NEVER_PASSED`.
    """
    known = Redactor(secrets)
    wanted = tuple(pass_env)
    variables = {
        name: value
        for name, value in environ.items()
        if not (name in NEVER_PASSED or known.knows(value))
        and (any(fnmatchcase(name, pattern) for pattern in wanted) or not _held_back(name, value))
    }
    return Kept(variables, tuple(sorted(set(environ) - set(variables))))


def _held_back(name: str, value: str) -> bool:
    if name in HARMLESS:
        return False
    return name in PLACES or name.startswith(FAMILIES) or looks_secret(name) or bool(_GITHUB_TOKEN.search(value))


def credentials(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of the job's variables that are credentials by their names, for whoever keeps them out of texts. What only
    says where one is, a path or an address without a login, is none.
    """
    return tuple(
        value
        for name, value in environ.items()
        if looks_secret(name)
        and len(value.strip()) >= _CREDENTIAL
        and not value.startswith("/")
        and not (value.startswith("http") and "@" not in value)
    )


def toolchains(environ: Mapping[str, str], is_folder: Callable[[Path], bool]) -> dict[str, str]:
    """Variables that let version managers find, from another home, what they have in the runner's."""
    home = environ.get("HOME", "")
    return {
        name: str(Path(home, folder))
        for name, folder in TOOLCHAIN_HOMES.items()
        if home and name not in environ and is_folder(Path(home, folder))
    }


def listed(dropped: Iterable[str]) -> str:
    """Names for the job log; what the runner has for itself by family, with how many there were."""
    families: Counter[str] = Counter()
    alone = []
    for name in dropped:
        family = next((start for start in FAMILIES if name.startswith(start)), "")
        if family:
            families[family] += 1
        else:
            alone.append(name)
    return ", ".join([*alone, *(f"{family}* ({count})" for family, count in sorted(families.items()))])
