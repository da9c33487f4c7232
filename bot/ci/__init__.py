"""What CI is, as pure rules: which workflows start for a commit (`filters`, `triggers`, `expectation`), what GitHub
lists for it (`observation`), and what that adds up to (`verdict`).
"""
