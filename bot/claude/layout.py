"""How the trusted files lie in a Session's configuration folder, and what of them is rewritten for that place.

The folder is a mirror of the repository with `.claude` as the CLI's user configuration, so that relative imports lead
to other trusted files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bot.claude.imports import closed
from bot.claude.trusted import Trusted, TrustedFile, above

MCP = "mcp.json"
"""In the folder: the servers of all the `.mcp.json` that hold."""
_VARIABLE = r"(?:CLAUDE_PROJECT_DIR|PWD)"
_TOP = rf"\$(?:{_VARIABLE}\b|\{{{_VARIABLE}(?::-[^}}]*)?\}}|\((?:git rev-parse --show-toplevel|pwd)\))"
_END = r"""(?=[/\s"';&|)]|$)"""
_NAMED = re.compile(rf"""{_TOP}(["']?)/\.claude{_END}""")
_RELATIVE = re.compile(rf"""(?<![^\s"'=;&|(])(?:\./)?\.claude{_END}""")
_FROM_ROOT = re.compile(r"(\w+)\(/(?!/)")
_LOCAL_SOURCES = ("directory", "file")
_STEERS_STATE = ("autoMemoryDirectory",)
_ANY = re.compile(r"[^\w./ -]")


def laid_out(
    trusted: Trusted, *, root: Path, checkout: Path, home: Path, said: Callable[[str], None]
) -> Mapping[str, TrustedFile]:
    """The files below `root` by their paths there. `home` is that of Sessions; `said` takes what could not be used."""
    return _Layout(trusted, root, checkout, home, said).files()


class _Layout:
    def __init__(self, trusted: Trusted, root: Path, checkout: Path, home: Path, said: Callable[[str], None]) -> None:
        self._trusted = trusted
        self._root = root
        self._checkout = checkout
        self._home = home
        self._said = said

    def files(self) -> dict[str, TrustedFile]:
        directory = self._trusted.directory
        files = dict(self._trusted.files)
        if directory:  # what the folder has of its own wins
            start = f"{directory}/.claude/"
            files |= {
                f".claude/{path.removeprefix(start)}": file for path, file in files.items() if path.startswith(start)
            }
        settings = self._settings()
        files = {path: self._closed(path, file) for path, file in files.items()}
        files[".claude/settings.json"] = _as_file(self._rewritten(settings))
        files[".claude/CLAUDE.md"] = self._memory()
        files |= {
            f".claude/rules/nightjar-{at}.md": rule for at, rule in enumerate(map(self._rule, self._trusted.below()))
        }
        servers = self._servers(settings)
        return files | ({MCP: _as_file({"mcpServers": servers})} if servers else {})

    # ── instructions ────────────────────────────────────────────────────────────────────────────────────────────

    def _memory(self) -> TrustedFile:
        """The CLI's user instructions: they import the others, and have the root's own from the same place in full."""
        own = self._trusted.files.get(".claude/CLAUDE.md")
        names = [path.replace(" ", "\\ ") for path in self._trusted.memory() if path != ".claude/CLAUDE.md"]
        text = "".join(f"@../{name}\n" for name in names)
        return TrustedFile((text + (f"\n{self._shut(own.text, '.claude')}" if own else "")).encode())

    def _rule(self, folder: str) -> TrustedFile:
        """The instructions of a folder as a rule for the files in it: the CLI shows it when it reads one of them."""
        whole = "/".join(part for part in (self._trusted.directory, folder) if part)
        paths = self._trusted.memory_of(whole)
        about = f"---\npaths:\n  - {json.dumps(_ANY.sub('?', folder) + '/**')}\n---\n\n"
        text = "\n\n".join(f"Contents of {path}:\n\n{self._trusted.files[path].text}" for path in paths)
        return TrustedFile((about + self._shut(text, ".claude/rules")).encode())

    def _closed(self, path: str, file: TrustedFile) -> TrustedFile:
        if not path.endswith(".md"):
            return file
        text = self._shut(file.text, path.rpartition("/")[0])
        return file if text == file.text else TrustedFile(text.encode(), file.executable)

    def _shut(self, text: str, folder: str) -> str:
        return closed(text, at=self._root / folder, root=self._root, home=self._home)

    # ── settings and servers ────────────────────────────────────────────────────────────────────────────────────

    def _settings(self) -> dict[str, Any]:
        """Of the folder that Sessions begin in, else of the root: the CLI takes no others."""
        for folder in dict.fromkeys((self._trusted.directory, "")):
            path = f"{folder}/.claude/settings.json".lstrip("/")
            if path in self._trusted.files:
                return self._object(path)
        return {}

    def _rewritten(self, settings: dict[str, Any]) -> dict[str, Any]:
        """As a user's settings: commands from `.claude` are the trusted ones, and the root is the checkout's."""
        made = {key: self._commands(value) for key, value in settings.items() if key not in _STEERS_STATE}
        permissions = made.get("permissions")
        if isinstance(permissions, dict):
            made["permissions"] = {key: self._from_root(rules) for key, rules in permissions.items()}
        markets = made.get("extraKnownMarketplaces")
        if isinstance(markets, dict):
            made["extraKnownMarketplaces"] = {name: market for name, market in markets.items() if not _is_local(market)}
        return made

    def _from_root(self, rules: Any) -> Any:
        if not isinstance(rules, list):
            return rules
        own = f"{self._trusted.directory}/.claude/settings.json" in self._trusted.files
        top = self._checkout / self._trusted.directory if own else self._checkout
        return [_FROM_ROOT.sub(rf"\1(/{top}/", rule, count=1) if isinstance(rule, str) else rule for rule in rules]

    def _servers(self, settings: dict[str, Any]) -> dict[str, Any]:
        """MCP servers, but for those that the settings turn off; the nearest folder's wins."""
        off = settings.get("disabledMcpjsonServers")
        found: dict[str, Any] = {}
        for folder in above(self._trusted.directory):
            path = f"{folder}/.mcp.json".lstrip("/")
            servers = self._object(path).get("mcpServers") if path in self._trusted.files else None
            found |= servers if isinstance(servers, dict) else {}
        return {name: self._commands(one) for name, one in found.items() if not (isinstance(off, list) and name in off)}

    def _object(self, path: str) -> dict[str, Any]:
        try:
            read = json.loads(self._trusted.files[path].content)
        except (ValueError, RecursionError):
            read = None
        if not isinstance(read, dict):
            self._said(f"`{path}` of the base commit is no JSON object: not used")
            return {}
        return read

    def _commands(self, value: Any) -> Any:
        """With `.claude` in all that is run standing for the trusted copy."""
        if isinstance(value, dict):
            return {key: self._command(one) if _is_run(key) else self._commands(one) for key, one in value.items()}
        return [self._commands(one) for one in value] if isinstance(value, list) else value

    def _command(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._command(one) for one in value]
        if not isinstance(value, str):
            return value
        return _RELATIVE.sub(lambda _: f"{self._root}/.claude", _NAMED.sub(r"${CLAUDE_CONFIG_DIR}\1", value))


def _is_run(key: str) -> bool:
    return key in ("command", "args") or key.endswith(("Helper", "Refresh", "Export"))


def _is_local(market: Any) -> bool:
    """Whether a plugin marketplace lies in the checkout, where the branch would be what it offers."""
    source = market.get("source") if isinstance(market, dict) else None
    return isinstance(source, dict) and source.get("source") in _LOCAL_SOURCES


def _as_file(value: Mapping[str, Any]) -> TrustedFile:
    return TrustedFile(json.dumps(value, indent=2).encode())
