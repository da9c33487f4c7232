"""Everything a Run tells people: comments, the pull request's text, step summary, annotation, outputs."""
