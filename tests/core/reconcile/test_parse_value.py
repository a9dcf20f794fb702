"""A number is read exactly or it is None."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.reconcile import parse_value

NUMBERS = {
    "47238221": "47238221", "47,238,221": "47238221", "47,238,221.00": "47238221", "148.95": "148.95", ".5": "0.5",
    "007": "7", "0": "0", "-0": "0",
    "$148.95": "148.95", "€100": "100", "£250.50": "250.5", "¥1,000": "1000", "₹2,162,087": "2162087", "US$5": "5",
    "CA$5": "5", "Rs. 500": "500", "rs 500": "500",
    "Rs.2.16 Cr": "21600000", "Rs 1,00,000": "100000", "USD 1,200": "1200", "USD1,200": "1200",
    "usd 1,200": "1200", "1,200 USD": "1200", "$1,200 USD": "1200", "$ 5": "5",
    "₹2,16,20,870": "21620870", "21,62,087.50": "2162087.5", "1,00,00,000": "10000000", "10,00,000": "1000000",
    "12.5K": "12500", "5 k": "5000", "$4.2M": "4200000", "4.2m": "4200000", "1.2bn": "1200000000",
    "1.5B": "1500000000", "2.5BN": "2500000000", "5T": "5000000000000", "1.2 million": "1200000",
    "3 billion": "3000000000", "2 thousand": "2000", "1.5 trillion": "1500000000000",
    "₹2.16Cr": "21600000", "1.2 crore": "12000000", "5CR": "50000000", "3.5L": "350000", "3 lakhs": "300000",
    "5 lac": "500000", "$4.2 million USD": "4200000",
    "42%": "0.42", "12.4 %": "0.124", "100%": "1", "0.5%": "0.005",
    "-100": "-100", "+100": "100", "- $500": "-500", "-$500": "-500", "$-500": "-500", "-USD 5": "-5", "USD -5": "-5",
    "\u22125": "-5", "\u2212$1.2bn": "-1200000000", "-42%": "-0.42", "-3.5L": "-350000", "-1.2 million": "-1200000",
    "(123.45)": "-123.45", "($1,234.56)": "-1234.56", "$(123.45)": "-123.45", "(42%)": "-0.42", "(42)%": "-0.42",
    "($4.2M)": "-4200000", "(4.2)M": "-4200000", "(₹2.16Cr)": "-21600000", "(3.5L)": "-350000", "( 5 )": "-5",
    " 5\t": "5", "\u00a05\u00a0": "5", "47\u202f238\u202f221": "47238221", "1\u00a0234\u00a0567.5": "1234567.5",
    "1\u2009234,56": "1234.56", "4.2\u00a0M": "4200000", "\u200f5,000\u200f": "5000", "\ufeff5": "5",
    "1.234,56": "1234.56", "1.234.567": "1234567", "12.345.678,90": "12345678.9", "-1.234,56 €": "-1234.56",
    "1.234": "1.234", "1,234": "1234",  # both could be European; the western reading is taken
    "1e5": "100000", "4.72E+07": "47200000", "1.5e-3": "0.0015",
}  # fmt: skip

NOT_NUMBERS = [
    "", " ", "n/a", "N/A", "null", "none", "-", "—", "nan", "inf", "Infinity", "NaN", "$", "%", "()", "K", "€ %",
    "12abc", "abc12", "12 apples", "not a number", "1,2,3", "--5", "+-5", "-+5", "1.2.3", "4.2MM", "4.2M%", "$5%",
    "5$%", "4 M B", "1,23", "12,34", "0,5", "1,2345", "1234,567", "12,34,56", "1,000,00", "100,00,000", "00,123",
    "1,234,56", ",123", "123,", "5.", "1..2", "1,,234", "1 234", "12 345 678", "(5", "5)", "((5))", "-(5)", "(-5)",
    "(5)-", "5-", "5-6", "3/4", "12:30", "2026-01-02", "01.02.2026", "1_000", "0x10", "1e99", "1e5e5", "e5", "=5",
    "=SUM(A1)", "1٬2", "１２", "٣", "½", "5%%",
    "%5", "$$5", "5KK", "5 apples", "5Mb", "5kg", "5 USDX", "#5", "~5", ">5",
    "5+", "5¢", "¢5", "1\u00a023", "true",
]  # fmt: skip


@pytest.mark.parametrize(("text", "number"), NUMBERS.items(), ids=NUMBERS)
def test_every_spelling_is_read_exactly(text, number):
    assert parse_value(text) == Decimal(number)


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_what_is_no_number_is_none(text):
    assert parse_value(text) is None


@pytest.mark.parametrize(
    ("value", "number"),
    [(5, "5"), (0.1, "0.1"), (1e16, "10000000000000000"), (Decimal("0.10"), "0.10"), (-0.0, "0")],
    ids=str,
)
def test_a_number_is_itself(value, number):
    assert parse_value(value) == Decimal(number)


@pytest.mark.parametrize(
    "value",
    [None, True, False, float("nan"), float("inf"), Decimal("NaN"), Decimal("sNaN"), [5], b"5", 10**200],
    ids=repr,
)
def test_no_other_value_is_a_number(value):
    assert parse_value(value) is None


def test_the_callers_decimal_context_changes_nothing():
    with localcontext() as context:
        context.prec = 2
        assert parse_value("47,238,221.75") == Decimal("47238221.75")
        assert parse_value("$4.2345M") == Decimal(4234500)


@given(st.text(max_size=300))
def test_any_text_is_a_number_or_none(text):
    number = parse_value(text)
    assert number is None or number.is_finite()


@given(st.text(alphabet="0123456789,.-+()$%€ KMBLcrn\u00a0\u2212eE", max_size=20))
def test_nearly_a_number_is_a_number_or_none_and_its_own_print_is_read_back(text):
    number = parse_value(text)
    assert number is None or parse_value(f"{number:f}") == number


whole = st.integers(min_value=0, max_value=10**15)
DRESS = {
    "plain": (lambda t: t, 1, 1),
    "dollar": (lambda t: f"${t}", 1, 1),
    "code": (lambda t: f"EUR {t}", 1, 1),
    "minus": (lambda t: f"-{t}", -1, 1),
    "unicode_minus_and_sign": (lambda t: f"\u2212£{t}", -1, 1),
    "brackets": (lambda t: f"({t})", -1, 1),
    "percent": (lambda t: f"{t}%", 1, Decimal("0.01")),
    "negative_percent": (lambda t: f"({t}%)", -1, Decimal("0.01")),
    "crore": (lambda t: f"₹{t}Cr", 1, 10**7),
    "negative_lakh": (lambda t: f"(₹{t}L)", -1, 10**5),
}


@pytest.mark.parametrize(("dress", "sign", "scale"), DRESS.values(), ids=DRESS)
@given(number=whole, cents=st.none() | st.integers(0, 99))
def test_a_number_in_any_dress_is_the_same_number(dress, sign, scale, number, cents):
    fraction = "" if cents is None else f".{cents:02}"
    exact = Decimal(f"{number}{fraction}") * sign * scale
    assert parse_value(dress(f"{number}{fraction}")) == exact
    assert parse_value(dress(f"{number:,}{fraction}")) == exact


@given(number=whole)
def test_indian_grouping_is_the_same_number(number):
    digits = str(number)
    head, tail = digits[:-3], digits[-3:]
    pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)][::-1]
    assert parse_value(",".join([*pairs, tail])) == number


def test_a_long_blank_text_is_refused_at_once():
    assert parse_value("-" + " " * 198 + "x") is None
    assert parse_value("(" * 200) is None
