import unittest

from widget.prices import total


class PricesTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([150, 250]), 400)
