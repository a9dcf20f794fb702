"""Rates equal a recount in plain Python, over histories of everything that can happen to a row."""

from __future__ import annotations

import math
import statistics
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from tests.conftest import settings_for
from tests.support import LiveService, a_record, errors_of

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = ("true_pass", "false_pass", "true_fail", "false_fail")
NOW = datetime.now(UTC).replace(microsecond=0)
SINCE, UNTIL = NOW - timedelta(days=30), NOW - timedelta(days=2)


@pytest.fixture(scope="module")
def shared(cluster_url: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """One service for all histories: each has a lane of its own."""
    from tests.conftest import PASSWORD, SERVICE_LOGIN, fresh_database
    from tests.support import with_login

    with fresh_database(cluster_url, template) as url:
        folder = tmp_path_factory.mktemp("rates")
        (folder / "policy.toml").write_text('regressed_outcomes = ["regressed", "rolled_back"]\n')
        with LiveService(settings_for(with_login(url, SERVICE_LOGIN, PASSWORD), folder)) as live:
            yield live


# One decision: when it was recorded, its verdict and score, and what happened to it, in order.
REVIEW = st.fixed_dictionaries(
    {"human_verdict": st.sampled_from(("merge", "reject", "revise", "waive")), "human_reason": st.just("seen")},
    optional={"agreement": st.sampled_from(WORDS)},
).map(
    lambda body: (
        body | ({"agreement": "true_pass"} if body["human_verdict"] == "waive" and "agreement" not in body else {})
    )
)
CORRECTION = st.fixed_dictionaries(
    {"agreement": st.sampled_from(WORDS), "human_verdict": st.sampled_from(("merge", "waive"))}
)
DECISION = st.fixed_dictionaries(
    {
        "tier": st.sampled_from(("low", "high")),
        "guardrail_verdict": st.sampled_from(("pass", "fail")),
        "guardrail_confidence": st.none() | st.integers(0, 1000).map(lambda n: n / 1000),
        # on both edges of the window, and far on either side
        "created_at": st.sampled_from(
            (SINCE, UNTIL, SINCE - timedelta(microseconds=1), UNTIL - timedelta(microseconds=1))
        )
        | st.integers(0, 40 * 86_400).map(lambda seconds: NOW - timedelta(seconds=seconds)),
        "review": st.none() | REVIEW,
        "outcomes": st.lists(st.sampled_from(("held", "regressed", "rolled_back", "odd word")), max_size=3),
        "correction": st.none() | CORRECTION,
    }
)


def play(service: LiveService, lane: str, decisions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Writes a history over HTTP and returns the newest revision of each decision, as the answers gave it."""
    root, current = service.as_("root"), []
    for decision in decisions:
        body = a_record(lane=lane, risk_tier=decision["tier"], created_at=decision["created_at"].isoformat(),
                        guardrail_verdict=decision["guardrail_verdict"], guardrail_confidence=decision["guardrail_confidence"])  # fmt: skip
        row = root.post("/v1/agreements", json=body).json()
        bodies = [decision["review"]] if decision["review"] else []
        bodies += [{"post_merge_outcome": word} for word in decision["outcomes"]]
        for fill in bodies:
            answer = root.patch(f"/v1/agreements/{row['id']}", json=fill)
            row = answer.json() if answer.status_code == 200 else row  # an outcome on a rejected row is refused
        if decision["correction"]:
            answer = root.post(
                f"/v1/agreements/{row['id']}/corrections",
                json={"reason": "r", "human_reason": "why", **decision["correction"]},
            )
            row = answer.json() if answer.status_code == 201 else row
        current.append(row)
    return current


def recount(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of one (lane, tier), by hand."""
    rated = Counter(row["agreement"] for row in rows if row["agreement"] and row["human_verdict"] != "waive")
    waived = Counter(row["agreement"] for row in rows if row["human_verdict"] == "waive")
    outcomes = Counter(row["post_merge_outcome"] for row in rows if row["post_merge_outcome"])
    scores = sorted(row["guardrail_confidence"] for row in rows if row["guardrail_confidence"] is not None)
    authored = rated.total()
    expected: dict[str, Any] = {
        "rows": len(rows),
        "authored": authored,
        "awaiting_review": sum(row["agreement"] is None for row in rows),
        **{word: rated[word] for word in WORDS},
        "shares": {word: rated[word] / authored for word in WORDS} if authored else None,
        "waived": {"count": waived.total(), **{word: waived[word] for word in WORDS}},
        "post_merge": {"outcomes": dict(outcomes), "regressed": outcomes["regressed"] + outcomes["rolled_back"]},
        "guardrail_confidence": summary(scores) if scores else None,
        "contradictions": sum(
            bool(row["agreement"]) and row["agreement"].split("_")[1] != row["guardrail_verdict"] for row in rows
        ),
    }
    for side in ("pass", "fail"):
        wrong, of = rated[f"false_{side}"], rated[f"false_{side}"] + rated[f"true_{side}"]
        expected[f"false_{side}_rate"] = wrong / of if of else None
        expected[f"false_{side}_upper_95"] = (
            binomtest(wrong, of, alternative="less").proportion_ci(0.95, "exact").high if of else None
        )
        two_sided = binomtest(wrong, of).proportion_ci(0.95, "exact") if of else None
        expected[f"false_{side}_interval_95"] = [two_sided.low, two_sided.high] if two_sided else None
    return expected


def summary(scores: list[float]) -> dict[str, Any]:
    place = 0.05 * (len(scores) - 1)
    low, high = scores[math.floor(place)], scores[math.ceil(place)]
    return {
        "count": len(scores),
        "min": scores[0],
        "median": statistics.median(scores),
        "p05": low + (place - math.floor(place)) * (high - low),
    }


def close(found: Any, expected: Any) -> bool:
    """Equal, with floats to nine digits: a bound is the root of an equation, and there are two ways to it."""
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and found.keys() == expected.keys()
            and all(close(found[k], expected[k]) for k in expected)
        )
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float) and not isinstance(found, bool) and isinstance(found, int | float):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)
    return type(found) is type(expected) and bool(found == expected)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(DECISION, max_size=8))
def test_rates_equal_a_recount_of_the_history(shared: LiveService, decisions: list[dict[str, Any]]) -> None:
    lane = f"lane/{uuid.uuid4()}"
    rows = play(shared, lane, decisions)
    inside = [row for row in rows if SINCE <= datetime.fromisoformat(row["created_at"]) < UNTIL]
    window = {"since": SINCE.isoformat(), "until": UNTIL.isoformat()}
    answer = shared.as_("dashboard").get(f"/v1/lanes/{lane}", params=window).json()
    assert answer["rows_read"] == len(inside)
    assert [datetime.fromisoformat(answer["window"][edge]) for edge in ("since", "until")] == [SINCE, UNTIL]
    tiers = sorted({row["risk_tier"] for row in inside})
    assert [(tier["lane"], tier["risk_tier"]) for tier in answer["lanes"]] == [(lane, name) for name in tiers]
    for tier in answer["lanes"]:
        expected = recount([row for row in inside if row["risk_tier"] == tier["risk_tier"]])
        found = {name: value for name, value in tier.items() if name not in ("lane", "risk_tier")}
        assert close(found, expected), (found, expected)
        assert tier["rows"] == tier["authored"] + tier["waived"]["count"] + tier["awaiting_review"]


def test_the_default_window_is_the_last_90_days(service: LiveService) -> None:
    for days in (89, 91):
        body = a_record(created_at=(datetime.now(UTC) - timedelta(days=days)).isoformat())
        service.as_("importer").post("/v1/agreements", json=body)
    answer = service.as_("dashboard").get("/v1/lanes").json()
    since, until = (datetime.fromisoformat(answer["window"][edge]) for edge in ("since", "until"))
    assert until - since == timedelta(days=90)
    assert answer["rows_read"] == 1


def test_all_lanes_are_answered_in_order(service: LiveService) -> None:
    for lane, tier in (("b", "low"), ("a", "low"), ("a", "high"), ("a/b", "low")):
        service.recorded(lane=lane, risk_tier=tier)
    lanes = [(t["lane"], t["risk_tier"]) for t in service.as_("dashboard").get("/v1/lanes").json()["lanes"]]
    assert lanes == [("a", "high"), ("a", "low"), ("a/b", "low"), ("b", "low")]
    assert service.as_("dashboard").get("/v1/lanes/a%2Fb").json()["rows_read"] == 1
    assert service.as_("dashboard").get("/v1/lanes/nowhere").json()["lanes"] == []


def test_a_rate_without_rows_is_null_and_never_0(service: LiveService) -> None:
    service.recorded()
    [tier] = service.as_("dashboard").get("/v1/lanes").json()["lanes"]
    for name in (
        "false_pass_rate",
        "false_pass_upper_95",
        "false_pass_interval_95",
        "false_fail_rate",
        "shares",
        "guardrail_confidence",
    ):
        assert tier[name] is None


def test_without_a_policy_regressions_are_unknown_and_not_0(service: LiveService) -> None:
    service.recorded()
    lanes = service.as_("dashboard").get("/v1/lanes").json()["lanes"]
    assert lanes[0]["post_merge"]["regressed"] is None
    service.settings.policy_file.write_text("regressed_outcomes = []\n")
    lanes = service.as_("dashboard").get("/v1/lanes").json()["lanes"]
    assert lanes[0]["post_merge"]["regressed"] == 0


def test_a_window_that_cannot_be_read_is_refused(service: LiveService) -> None:
    answer = service.as_("dashboard").get("/v1/lanes", params={"since": "2026-01-01"})
    assert set(errors_of(answer)) == {"since"}
    early = service.as_("dashboard").get("/v1/lanes", params={"until": "0001-01-02T00:00:00Z"})
    assert early.status_code == 200
