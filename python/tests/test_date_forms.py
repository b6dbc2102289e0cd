"""Dates as texts: the package writes them as the library does."""
import pytest

from nade._columns import _write_date


@pytest.mark.parametrize("form, text", [
    ("YYYY-MM-DD hh:mm:ss.fff", "1970-02-03 14:05:06.250"),
    ("D.M.YYYY", "3.2.1970"),
    ("DD.MM.YY", "03.02.70"),
    ("D MMM YYYY", "3 Feb 1970"),
    ("MMMM D, YYYY h:mm PM", "February 3, 1970 2:05 PM"),
])
def test_forms(form, text):
    assert _write_date(form, 33 * 86400 + 14 * 3600 + 5 * 60 + 6.25) == text
