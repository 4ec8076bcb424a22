import pytest

from potluck.people.default_names import name_in


@pytest.mark.parametrize(
    ("email", "name"),
    [
        ("mara@example.org", "Mara"),
        ("mara.okafor@example.org", "Mara Okafor"),
        ("mara_okafor+potluck@example.org", "Mara Okafor"),
        ("deBruin@example.org", "DeBruin"),
        ("...@example.org", "..."),
        ("+@example.org", "+"),
        ("\u0300@example.org", "example.org"),
        (f"{'m' * 200}@example.org", "M" + "m" * 99),
    ],
)
def test_a_name_is_the_part_of_the_address_before_the_at(email, name):
    assert name_in(email) == name
