"""What a Session, and whatever else runs code from the branch, cannot do on the runner. Linux and the standard library
only.

`hardening` shuts this process, which holds the keys; `choice` decides by facts how a child is confined; `entry` becomes
that child.
"""
