"""The Run page: one HTML file that tells a Run, from its Record and from what its Sessions left in the logs folder."""
