"""Shell scripts for logs, tested by scripts that print TAP."""

from __future__ import annotations

from tests.exam.case import Sample
from tests.exam.samples.ci import CI

LOGS = Sample(
    "logs (shell, TAP)",
    {
        ".github/workflows/ci.yml": CI.format(run="bash t/run"),
        "README.md": "# logs\n\n`bin/logcut LEVEL` prints the lines of one level, `bin/logsum` counts them.\n",
        "bin/logcut": """\
#!/usr/bin/env bash
# Prints the lines of one level: logcut LEVEL < LOG
set -eu
level="$1"
while read -r day word rest; do
  if [ "$word" = "$level" ]; then
    echo "$day $word $rest"
  fi
done
""",
        "bin/logsum": """\
#!/usr/bin/env bash
# Counts the lines of each level: logsum < LOG
set -eu
cut -d' ' -f2 | sort | uniq -c | while read -r count level; do
  echo "$level $count"
done
""",
        "t/lib.sh": """\
# What the tests share; prints TAP.
count=0
failed=0
root="$(cd "$(dirname "$0")/.." && pwd)"
is() {
  count=$((count + 1))
  if [ "$1" = "$2" ]; then
    echo "ok $count - $3"
  else
    echo "not ok $count - $3"
    echo "# got:      $1"
    echo "# expected: $2"
    failed=$((failed + 1))
  fi
}
finish() {
  echo "1..$count"
  [ "$failed" -eq 0 ]
}
""",
        "t/level.t": """\
. "$(dirname "$0")/lib.sh"
log='2026-03-01 INFO started
2026-03-01 ERROR disk full
2026-03-02 INFO stopped'
is "$(echo "$log" | bash "$root/bin/logcut" ERROR)" '2026-03-01 ERROR disk full' 'prints the lines of a level'
is "$(echo "$log" | bash "$root/bin/logcut" DEBUG)" '' 'prints nothing for a level that is not there'
finish
""",
        "t/sum.t": """\
. "$(dirname "$0")/lib.sh"
log='2026-03-01 INFO started
2026-03-01 ERROR disk full
2026-03-02 INFO stopped'
is "$(echo "$log" | bash "$root/bin/logsum")" "$(printf 'ERROR 1\\nINFO 2')" 'counts every level'
finish
""",
        "t/run": """\
#!/usr/bin/env bash
# Runs the tests that are named, or all of them.
cd "$(dirname "$0")/.." || exit 2
[ $# -gt 0 ] || set -- t/*.t
code=0
for test in "$@"; do
  echo "# $test"
  bash "$test" || code=1
done
exit $code
""",
    },
    "bash t/run",
)
