"""Proof: what the program's own runs of the named test show. Pure: no room stands below this one."""
