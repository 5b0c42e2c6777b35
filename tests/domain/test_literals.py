from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillopt_sleep.domain.literals import Literals

SHORT = st.text(alphabet="abc_é密", min_size=1, max_size=4)


@given(st.sets(SHORT, max_size=30), st.text(alphabet="abc_é密 xyz", max_size=40))
def test_exactly_the_strings_that_a_text_holds_are_found(strings: set[str], text: str) -> None:
    assert Literals(strings).found_in(text) == {string for string in strings if string in text}
