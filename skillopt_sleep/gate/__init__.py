"""The gate: paired evidence in, a verdict out. Pure, and it may say "I don't know yet".

Accept means: an edit that does nothing would have looked this good in at most `alpha` of all nights. The unit is the
family, the test the exact paired sign-flip, one-sided; a harmful edit is found by the same test, mirrored. "Reject"
needs evidence too: that the edit harms, that it cannot be worth having, or that a family got worse. All else is
inconclusive.

`judge_gate` judges evidence that is complete; `SequentialGate` says which evidence to gather next and stops as soon
as the answer is clear. `regressions` looks for single families that got worse, `account` keeps several tests on the
same families within one alpha. docs/gate.md says what all this promises, with measured figures.
"""

from skillopt_sleep.gate.judge import bar_to_judging, calls_for_one_comparison, judge_gate, testable, unmeasured
from skillopt_sleep.gate.sequential import SequentialGate
from skillopt_sleep.gate.table import select_gate_score

__all__ = [
    "SequentialGate",
    "bar_to_judging",
    "calls_for_one_comparison",
    "judge_gate",
    "select_gate_score",
    "testable",
    "unmeasured",
]
