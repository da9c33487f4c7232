"""Makes web pages; there are no tests at all."""

from __future__ import annotations

from tests.exam.case import Sample
from tests.exam.samples.ci import CI

SITE = Sample(
    "site (no tests)",
    {
        ".github/workflows/ci.yml": CI.format(run="python3 make_pages.py out"),
        ".gitignore": "__pycache__/\nout/\n",
        "README.md": "# site\n\n    python3 make_pages.py OUT    writes the pages into OUT\n",
        "pages/index.txt": "Welcome\n\nThis is our garden club.\n",
        "pages/dates.txt": "Dates\n\nWe meet on Mondays.\n",
        "make_pages.py": '''\
"""Makes a page of HTML from each text in pages/: the first line is its title, paragraphs follow."""

import sys
from pathlib import Path


def page(text):
    title, _, rest = text.partition("\\n")
    body = "".join(f"<p>{part.strip()}</p>\\n" for part in rest.split("\\n\\n") if part.strip())
    return f"<title>{title}</title>\\n<h1>{title}</h1>\\n{body}"


def make(source, target):
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.txt")):
        (target / f"{path.stem}.html").write_text(page(path.read_text()))


if __name__ == "__main__":
    make(Path(__file__).parent / "pages", Path(sys.argv[1]))
''',
        "publish.sh": """\
#!/bin/sh
# Copies the pages to where they are served from: publish.sh OUT FOLDER
out=$1
folder=$2
rm -rf "$folder"
cp -r "$out" "$folder"
echo "published"
""",
    },
    "",
)
