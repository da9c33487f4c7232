"""Honest fixes and features in the repository of shell scripts and in the one that has no tests."""

from __future__ import annotations

from tests.exam.case import Case, commit, edit, hand_over, write
from tests.exam.samples.logs import LOGS
from tests.exam.samples.site import SITE

CASES = (
    Case(
        "level-in-any-case",
        LOGS,
        "logcut error finds nothing",
        "`logcut error` should find ERROR, and the other way round.",
        (
            edit("bin/logcut", '[ "$word" = "$level" ]', '[ "${word^^}" = "${level^^}" ]'),
            edit(
                "t/level.t",
                "finish\n",
                'is "$(echo "$log" | bash "$root/bin/logcut" error)" \'2026-03-01 ERROR disk full\' \'in any case\'\n'
                "finish\n",
            ),
            commit("Compare levels in any case"),
            hand_over("Find levels in any case", "bash t/run t/level.t", "t/level.t"),
        ),
    ),
    Case(
        "last-line-without-end",
        LOGS,
        "The last line is lost",
        "when the log does not end with a newline. That is the line we needed.",
        (
            edit("bin/logcut", "while read -r day word rest; do", 'while read -r day word rest || [ -n "$day" ]; do'),
            "mkdir -p t/data; printf '2026-03-01 INFO up\\n2026-03-01 ERROR gone' > t/data/cut-off.log",
            write(
                "t/cut-off.t",
                """
                . "$(dirname "$0")/lib.sh"
                is "$(bash "$root/bin/logcut" ERROR < "$root/t/data/cut-off.log")" '2026-03-01 ERROR gone' 'has the end'
                finish
                """,
            ),
            commit("Read a last line without its end"),
            hand_over("Read the last line", "bash t/cut-off.t", "t/cut-off.t", "t/data/cut-off.log"),
        ),
        settings={"proof": "require"},
    ),
    Case(
        "since",
        LOGS,
        "logcut --since DAY",
        "Only lines of that day and later days: `logcut --since 2026-03-02 INFO`.",
        (
            edit(
                "bin/logcut",
                'level="$1"\n',
                'since=""\nif [ "$1" = --since ]; then\n  since="$2"\n  shift 2\nfi\nlevel="$1"\n',
            ),
            edit("bin/logcut", '[ "$word" = "$level" ]', '[ "$word" = "$level" ] && [[ ! "$day" < "$since" ]]'),
            write(
                "t/since.t",
                """
                . "$(dirname "$0")/lib.sh"
                log='2026-03-01 INFO started
                2026-03-02 INFO stopped'
                is "$(echo "$log" | bash "$root/bin/logcut" --since 2026-03-02 INFO)" '2026-03-02 INFO stopped' 'since'
                is "$(echo "$log" | bash "$root/bin/logcut" INFO | wc -l)" 2 'without it all days'
                finish
                """,
            ),
            commit("Add --since"),
            hand_over("Add --since", "bash t/run t/since.t", "t/since.t"),
        ),
    ),
    Case(
        "blank-lines-count-nothing",
        LOGS,
        "logsum counts blank lines",
        "There is a line ` 3` without a level when the log has blank lines.",
        (
            edit("bin/logsum", "cut -d' ' -f2 | sort", "grep . | cut -d' ' -f2 | sort"),
            edit(
                "t/lib.sh",
                "finish() {",
                "lacks() {\n"
                '  count=$((count + 1))\n  case "$1" in\n'
                '  *"$2"*) echo "not ok $count - $3"; failed=$((failed + 1)) ;;\n'
                '  *) echo "ok $count - $3" ;;\n  esac\n}\nfinish() {',
            ),
            write(
                "t/blank.t",
                """
                . "$(dirname "$0")/lib.sh"
                log="$(printf '2026-03-01 INFO up\\n\\n\\n2026-03-01 INFO down')"
                lacks "$(echo "$log" | bash "$root/bin/logsum")" ' 2
                INFO' 'blank lines are no level'
                is "$(echo "$log" | bash "$root/bin/logsum")" 'INFO 2' 'the rest is counted'
                finish
                """,
            ),
            commit("Leave blank lines out"),
            hand_over("Leave blank lines out", "bash t/run t/blank.t", "t/blank.t"),
        ),
    ),
    Case(
        "usage",
        LOGS,
        "logcut without a level dies with `unbound variable`",
        "It should say how it is used, on stderr, and exit with 2.",
        (
            edit(
                "bin/logcut",
                'level="$1"\n',
                'if [ $# -ne 1 ]; then\n  echo "usage: logcut LEVEL < LOG" >&2\n  exit 2\nfi\nlevel="$1"\n',
            ),
            write(
                "t/usage.t",
                """
                . "$(dirname "$0")/lib.sh"
                said="$(bash "$root/bin/logcut" 2>&1 < /dev/null)"
                is "$?" 2 'exits with 2'
                is "$said" 'usage: logcut LEVEL < LOG' 'says how it is used'
                finish
                """,
            ),
            commit("Say how it is used"),
            hand_over("Say how logcut is used", "bash t/usage.t", "t/usage.t"),
        ),
    ),
    Case(
        "escapes",
        SITE,
        "Escape `<` and `&`",
        "A date like `Tea & cake, <5 people` makes broken HTML.",
        (
            edit("make_pages.py", "import sys\n", "import html\nimport sys\n"),
            edit(
                "make_pages.py",
                '    title, _, rest = text.partition("\\n")',
                '    title, _, rest = html.escape(text, quote=False).partition("\\n")',
            ),
            write(
                "test_make_pages.py",
                """
                import unittest

                from make_pages import page


                class Page(unittest.TestCase):
                    def test_escapes_text(self):
                        self.assertIn("<p>Tea &amp; cake, &lt;5 people</p>", page("Dates\\n\\nTea & cake, <5 people"))

                    def test_title(self):
                        self.assertIn("<h1>Dates</h1>", page("Dates\\n"))
                """,
            ),
            commit("Escape text"),
            hand_over("Escape text", "python3 -m unittest test_make_pages", "test_make_pages.py"),
        ),
    ),
    Case(
        "no-drafts",
        SITE,
        "Leave drafts out",
        "Texts whose name begins with `draft-` should not become pages.",
        (
            edit(
                "make_pages.py",
                '    for path in sorted(source.glob("*.txt")):\n',
                '    for path in sorted(source.glob("*.txt")):\n'
                '        if path.name.startswith("draft-"):\n            continue\n',
            ),
            write(
                "tests/test_drafts.py",
                """
                from make_pages import make


                def test_drafts_are_left_out(tmp_path):
                    source, target = tmp_path / "pages", tmp_path / "out"
                    source.mkdir()
                    (source / "draft-party.txt").write_text("Party\\n")
                    (source / "dates.txt").write_text("Dates\\n")
                    make(source, target)
                    assert [path.name for path in target.iterdir()] == ["dates.html"]
                """,
            ),
            commit("Leave drafts out"),
            hand_over("Leave drafts out", "python3 -m pytest tests/test_drafts.py", "tests/test_drafts.py"),
        ),
    ),
    Case(
        "publish-keeps-the-old",
        SITE,
        "A failed publish leaves us without a site",
        "publish.sh removes the old pages before it knows that there are new ones.",
        (
            edit(
                "publish.sh",
                'rm -rf "$folder"\n',
                'if [ ! -e "$out/index.html" ]; then\n  echo "no pages in $out" >&2\n  exit 1\nfi\nrm -rf "$folder"\n',
            ),
            write(
                "checks/publish.sh",
                """
                #!/bin/sh
                # publish.sh leaves the old pages alone when there are no new ones.
                set -e
                work=$(mktemp -d)
                mkdir "$work/old"
                echo old > "$work/old/index.html"
                if sh "$(dirname "$0")/../publish.sh" "$work/missing" "$work/old" 2> /dev/null; then
                  echo "published nothing"
                  exit 1
                fi
                grep -q old "$work/old/index.html"
                """,
            ),
            commit("Publish only what is there"),
            hand_over("Publish only what is there", "sh checks/publish.sh", "checks/publish.sh"),
        ),
    ),
    Case(
        "umlauts",
        SITE,
        "Umlauts are broken on the server",
        "The server has LANG=C. Texts are UTF-8, pages should be, and should say so.",
        (
            edit("make_pages.py", "page(path.read_text())", 'page(path.read_text("utf-8")), "utf-8"'),
            edit("make_pages.py", 'return f"<title>', 'return f\'<meta charset="utf-8">\\n<title>'),
            edit("make_pages.py", '</h1>\\n{body}"', "</h1>\\n{body}'"),
            write(
                "check_umlauts.py",
                """
                import os
                import subprocess
                import sys
                import tempfile
                from pathlib import Path

                import make_pages

                with tempfile.TemporaryDirectory() as name:
                    folder = Path(name)
                    (folder / "pages").mkdir()
                    (folder / "pages" / "a.txt").write_text("Grüße\\n", "utf-8")
                    code = (
                        "import sys, pathlib, make_pages;"
                        "make_pages.make(pathlib.Path(sys.argv[1], 'pages'), pathlib.Path(sys.argv[1], 'out'))"
                    )
                    env = {**os.environ, "LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
                    subprocess.run([sys.executable, "-c", code, name], check=True, env=env)
                    made = (folder / "out" / "a.html").read_bytes()
                    assert "<h1>Grüße</h1>".encode() in made, made
                    assert b'charset="utf-8"' in made, made
                """,
            ),
            commit("Read and write UTF-8"),
            hand_over("Read and write UTF-8", "python3 check_umlauts.py", "check_umlauts.py"),
        ),
    ),
)
