"""A whole Run against somebody's own repository without GitHub: their commit in an embedded one, on this machine."""
