"""Widgets and their prices."""
