"""What people attached to the issue: which addresses are GitHub's own, what is fetched, what its content is. Pure."""
