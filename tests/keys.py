"""Keys for GitHub Apps of the sandbox, made when a test needs one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Both halves of a key, in PEM."""

    private: str
    public: str


def key_pair(which: str = "the App's") -> KeyPair:
    """An RSA key as GitHub makes them for Apps, always the same one; another one for another name."""
    return _made(which)


@cache
def _made(_which: str) -> KeyPair:
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    return KeyPair(private, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())


def elliptic_key() -> str:
    """A private key of another kind, which signs nothing for GitHub."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
