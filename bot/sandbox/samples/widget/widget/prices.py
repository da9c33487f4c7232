"""Prices, in cents."""


def total(prices):
    """The sum of the prices."""
    return sum(prices)
