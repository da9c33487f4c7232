"""One `claude` conversation, supervised."""
