"""Which variables of the environment hold a credential, judged by their names."""

from __future__ import annotations

import re

_WORDS = (
    r"TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|COOKIES?|API_?KEYS?|ACCESS_?KEYS?|PRIVATE_?KEYS?"
    r"|SIGNING_?KEYS?|DEPLOY_?KEYS?|SSH_?KEYS?|ENCRYPTION_?KEYS?"
)
_NAME = re.compile(rf"({_WORDS})(?![A-Z])|(^|_)(AUTH|KEY|PAT|PWD|PASS|DSN)($|_)", re.IGNORECASE)


def looks_secret(name: str) -> bool:
    """Whether a variable of that name usually holds a credential."""
    return _NAME.search(name) is not None


def must_go(name: str) -> bool:
    """Whether the program keeps no copy of this variable in its own environment once it has been read."""
    return name.startswith(("INPUT_", "ACTIONS_")) or looks_secret(name)
