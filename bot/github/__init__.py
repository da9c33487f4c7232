"""All that is said to GitHub.

`client` builds both libraries and owns errors and retries; `repository` is `bot.ports.GitHub`; `checks` reads and
judges CI; `watch` is `bot.ports.CiWatch`; `evidence` says what went wrong in a failed check; `logs` makes a job's log
readable and short.
"""
