"""Files of a commit, as the program's own repository has them, whatever a Session does to its checkout."""

from __future__ import annotations

from bot.tree import GitTree
from tests.git.bench import FILES, Bench


def test_files_of_a_commit(bench: Bench) -> None:
    """Files are read as that commit has them: their modes, links as what they say, none that is too large."""
    base, _ = bench.prepare()
    bench.session(
        "printf 'x\\0\\nä' > 'a b.bin'; echo '#!/bin/sh' > run.sh; chmod +x run.sh; echo no > a.txt;"
        "ln -s /etc/passwd link; printf '* text eol=crlf filter=upper\\n' > .gitattributes;"
        "git config filter.upper.smudge 'tr a-z A-Z'; git add .;"
        "git update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,module; git commit -qm more"
    )
    head = bench.workspace.collect("more")
    tree = GitTree(bench.git)
    entries = {entry.path: entry for entry in tree.entries(head)}
    assert {path: entries[path].mode for path in ("a b.bin", "run.sh", "link", "module")} == {
        "a b.bin": "100644",
        "run.sh": "100755",
        "link": "120000",
        "module": "160000",
    }
    asked = [entries[path] for path in ("module", "a b.bin", "link", "a.txt", "run.sh")]
    assert tree.contents(asked, 11) == (None, "x\0\nä".encode(), b"/etc/passwd", b"no\n", b"#!/bin/sh\n")
    assert tree.contents(asked, 10)[2] is None
    assert tree.contents([], 10) == ()
    before = tree.entries(base)
    assert {entry.path: text for entry, text in zip(before, tree.contents(before, 999), strict=True)} == {
        path: text.encode() for path, text in FILES.items()
    }
