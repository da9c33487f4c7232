"""The CI of the samples: one job with one command."""

from __future__ import annotations

CI = """\
name: CI
on:
  pull_request:
  push:
    branches: [main]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: |
          echo "{{bin}}" >> "$GITHUB_PATH"
          echo PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 >> "$GITHUB_ENV"
      - run: {run}
"""
"""`{run}` stands for the command."""
