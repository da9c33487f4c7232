"""The credential forwarder: a loopback address that a Session talks to in place of the model's API.

The Session gets the address and a placeholder; the forwarder, in Nightjar's own process, puts the credential in the
placeholder's place and passes everything else on as it comes, both ways. What it does not do: follow redirects, keep
anything, or say what it saw.
"""

from bot.forwarder.credential import ApiKey, BadCredential, Credential, OAuthToken
from bot.forwarder.limits import Limits
from bot.forwarder.server import Forwarder
from bot.forwarder.upstream import BadUpstream, Proxy, Upstream

__all__ = [
    "ApiKey",
    "BadCredential",
    "BadUpstream",
    "Credential",
    "Forwarder",
    "Limits",
    "OAuthToken",
    "Proxy",
    "Upstream",
]
