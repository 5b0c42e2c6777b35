"""`sim`: the embedded model, a seeded stochastic follower of instructions in English. No network, no weights.

It sees only the prompt. What it understands of it (`reading`) it obeys with a probability (`obeying`) that depends on
its strength and on how the instruction is put, and writes a plain reply to match (`writing`). As optimiser
(`optimizing`) it is sometimes vague, wrong or harmful. It knows no task, skill or judge. It is a stand-in for a
language model in the demo, in tests and in studies of the gate; every figure that rests on it has to say so.
"""

from skillopt_sleep.backend.sim.model import SimModel
from skillopt_sleep.backend.sim.temperament import Strength, strength_named

__all__ = ["SimModel", "Strength", "strength_named"]
