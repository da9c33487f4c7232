"""The clone in which a command was called: where its files are, and which repository of which GitHub it comes from."""
