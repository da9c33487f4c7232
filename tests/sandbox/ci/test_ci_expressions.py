"""Expressions, conditions and matrices."""

from __future__ import annotations

import pytest

from bot.sandbox.ci.expressions import Scope, compile_expression
from bot.sandbox.ci.matrix import combinations, job_name
from bot.sandbox.ci.templates import condition_holds, expand, read_condition
from bot.sandbox.ci.values import ExpressionError, Value
from bot.sandbox.ci.workflow import Workflow, read_workflow

SCOPE = Scope(
    {
        "github": {"event_name": "push", "ref": "refs/heads/main", "event": {"number": 7}},
        "env": {"FLAG": "yes", "EMPTY": ""},
        "matrix": {"python": 3.11, "os": ["a", "b"]},
        "steps": {"build": {"outputs": {"size": "12"}}},
        "needs": {"a": {"result": "success"}, "b": {"result": "failure"}, "c": {}},
        "inputs": {"labels": [{"name": "bug"}, {"id": 1}, {"name": "nightjar"}]},
    }
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("github.event_name == 'push'", True),
        ("github.event_name == 'PUSH'", True),
        ("github.event_name != 'push'", False),
        ("github['ref']", "refs/heads/main"),
        ("github.event.number == 7", True),
        ("github.event.nothing.there", None),
        ("!env.EMPTY", True),
        ("!(true && false) || false", True),
        ("true && 'a' || 'b'", "a"),
        ("github.event.nothing || github.event.number", 7),
        ("format('x-{0}', env.EMPTY || github.event.number)", "x-7"),
        ("github.event && github.event.number", 7),
        ("false && 'a' || 'b'", "b"),
        ("steps.build.outputs.size > 9", True),
        ("'' == 0", True),
        ("'x' == 0", False),
        ("null == ''", True),
        ("1.50", 1.5),
        ("'it''s'", "it's"),
        ("contains(matrix.os, 'B')", True),
        ("contains('Nightjar', 'JAR')", True),
        ("startsWith(github.ref, 'refs/heads/')", True),
        ("startsWith('/Nightjar RETRY', '/nightjar')", True),
        ("startsWith(github.event.nothing, '/')", False),
        ("startsWith(github.event, 'Object')", False),
        ("endsWith(github.ref, 'dev')", False),
        ("endsWith(github.ref, 'MAIN')", True),
        ("contains(github.event, 'Object')", False),
        ("format('{0}-{1}{{', 'a', 2)", "a-2{"),
        ("join(matrix.os, '+')", "a+b"),
        ("fromJSON('[1, 2]')[1]", 2),
        ("secrets.TOKEN", None),
        ("contains(inputs.labels.*.name, 'nightjar')", True),
        ("join(inputs.labels.*.name, ' ')", "bug nightjar"),
        ("contains(needs.*.result, 'failure')", True),
        ("join(needs.*.result)", "success,failure"),
        ("join(github.nothing.*.name)", ""),
    ],
)
def test_an_expression_has_githubs_value(text: str, expected: Value) -> None:
    """Operators, properties and functions follow GitHub's documentation."""
    assert compile_expression(text).evaluate(SCOPE) == expected


@pytest.mark.parametrize(
    "text", ["github.", "a b", "hashFiles('x')", "nothing.here", "1 +", "success() &&", "github.*name", 'x"y"']
)
def test_an_expression_that_cannot_be_read_is_refused_by_name(text: str) -> None:
    """The message quotes the expression."""
    with pytest.raises(ExpressionError, match=r"expression|function"):
        compile_expression(text)


@pytest.mark.parametrize(
    ("text", "status", "expected"),
    [
        ("", "success", True),
        ("", "failure", False),
        ("always()", "failure", True),
        ("${{ always() }}", "cancelled", True),
        ("failure()", "failure", True),
        ("failure()", "success", False),
        ("success() || failure()", "cancelled", False),
        ("!cancelled()", "failure", True),
        ("github.ref == 'refs/heads/main'", "success", True),
        ("github.ref == 'refs/heads/main'", "failure", False),
        ("failure() && github.ref == 'refs/heads/dev'", "failure", False),
        ("'false'", "success", True),
    ],
)
def test_a_condition_asks_for_success_unless_it_says_otherwise(text: str, status: str, expected: bool) -> None:
    """`if:` holds as GitHub's would."""
    assert condition_holds(text, Scope(SCOPE.contexts, status)) is expected


def test_a_condition_partly_inside_braces_is_refused() -> None:
    """GitHub takes such a condition for a string that is always true; that trap is named instead."""
    with pytest.raises(ExpressionError, match="partly inside"):
        read_condition("${{ github.ref }} == 'refs/heads/main'")


def test_text_is_expanded_in_place() -> None:
    """Several expressions in one text are replaced, braces inside strings included."""
    assert expand("v${{ matrix.python }} ${{ '}}' }} ${{ github.event }} ${{ env.NO }}.", SCOPE) == "v3.11 }} Object ."


def names(matrix: str, name: str = "") -> list[str]:
    """The job names for a matrix in YAML."""
    text = f"on: push\njobs: {{test: {{name: '{name}', strategy: {{matrix: {matrix}}}, steps: [{{run: x}}]}}}}"
    workflow = read_workflow("ci.yml", text)
    assert isinstance(workflow, Workflow), workflow
    job = workflow.jobs["test"]
    return [job_name(job, one, Scope({"matrix": one})) for one in combinations(job.matrix, SCOPE)]


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ("{python: [3.11, '3.12']}", ["test (3.11)", "test (3.12)"]),
        ("{os: [a, b], n: [1, 2]}", ["test (a, 1)", "test (a, 2)", "test (b, 1)", "test (b, 2)"]),
        ("{os: [a, b], n: [1, 2], exclude: [{os: a, n: 2}]}", ["test (a, 1)", "test (b, 1)", "test (b, 2)"]),
        ("{os: [a, b], n: [1], exclude: [{os: a}]}", ["test (b, 1)"]),
        ("{os: [a], include: [{os: a, extra: x}]}", ["test (a, x)"]),
        ("{os: [a], include: [{os: b, n: 9}]}", ["test (a)", "test (b, 9)"]),
        ("{include: [{n: 1}, {n: 2}]}", ["test (1)", "test (2)"]),
        ("{os: [a, b], include: [{color: red}]}", ["test (a, red)", "test (b, red)"]),
        ("{n: \"${{ fromJSON(''[4, 5]'') }}\"}".replace("''", "'"), ["test (4)", "test (5)"]),
    ],
)
def test_a_matrix_becomes_named_jobs(matrix: str, expected: list[str]) -> None:
    """Axes multiply, `exclude` takes away, `include` adds to what it does not contradict or stands alone."""
    assert names(matrix) == expected


def test_an_include_example_of_githubs_documentation() -> None:
    """The fruit-and-animal example: an added value may be replaced by a later entry, an axis value never."""
    matrix = (
        "{fruit: [apple, pear], animal: [cat, dog], include: [{color: green}, {color: pink, animal: cat}, "
        "{fruit: apple, shape: circle}, {fruit: banana}, {fruit: banana, animal: cat}]}"
    )
    assert names(matrix) == [
        "test (apple, cat, pink, circle)",
        "test (apple, dog, green, circle)",
        "test (pear, cat, pink)",
        "test (pear, dog, green)",
        "test (banana)",
        "test (banana, cat)",
    ]


def test_a_job_name_with_an_expression_is_used_as_it_is() -> None:
    """The values are not added a second time."""
    assert names("{python: [3.11]}", "py ${{ matrix.python }}") == ["py 3.11"]
    assert names("{python: [3.11]}", "Tests") == ["Tests (3.11)"]
