"""One optimisation epoch of one skill (`epoch.optimise`), and the synchronous facade the research code knows."""

from skillopt_sleep.consolidate.bench import Candidate, EpochOptions
from skillopt_sleep.consolidate.epoch import Epoch, optimise
from skillopt_sleep.consolidate.facade import Consolidation, consolidate
from skillopt_sleep.gate import select_gate_score

__all__ = ["Candidate", "Consolidation", "Epoch", "EpochOptions", "consolidate", "optimise", "select_gate_score"]
