"""The files through which a step speaks to later ones: `GITHUB_OUTPUT`, `GITHUB_ENV`, `GITHUB_PATH`,
`GITHUB_STEP_SUMMARY`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


class CommandFileError(ValueError):
    """A step wrote something that GitHub cannot read either."""


@dataclass(frozen=True, slots=True)
class CommandFiles:
    """One step's files, empty at first."""

    directory: Path

    @classmethod
    def create(cls, directory: Path) -> CommandFiles:
        """Make them."""
        directory.mkdir(parents=True)
        files = cls(directory)
        for path in files.environment().values():
            Path(path).touch()
        return files

    def environment(self) -> Mapping[str, str]:
        """The variables that name them."""
        names = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
        return {name: str(self.directory / name.lower()) for name in names}

    def read(self, name: str) -> str:
        """What the step wrote; empty when it removed the file."""
        path = self.directory / name.lower()
        return path.read_text("utf-8", "replace") if path.is_file() else ""

    def pairs(self, name: str) -> Mapping[str, str]:
        """`name=value` lines and `name<<MARK` blocks. Raises `CommandFileError`."""
        found: dict[str, str] = {}
        lines = iter(self.read(name).splitlines())
        for line in lines:
            key, equals, value = line.partition("=")
            block_key, arrows, mark = line.partition("<<")
            if arrows and (not equals or len(block_key) < len(key)):
                found[block_key] = "\n".join(_until(mark, lines, name))
            elif equals and key:
                found[key] = value
            elif line:
                raise CommandFileError(f"{name}: Invalid format '{line[:200]}'")
        return found

    def paths(self) -> list[str]:
        """What the step put on the PATH, the last one first."""
        return [line for line in reversed(self.read("GITHUB_PATH").splitlines()) if line]


def _until(mark: str, lines: Iterator[str], name: str) -> list[str]:
    block: list[str] = []
    for line in lines:
        if line == mark:
            return block
        block.append(line)
    raise CommandFileError(f"{name}: Matching delimiter not found '{mark}'")
