"""What `nightjar init` puts into a repository, what it says about that, and nothing of how it gets there."""
