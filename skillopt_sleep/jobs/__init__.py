"""Work that a session only starts: a plan is offered, somebody says yes to it, and a process of its own does it.

    offer(request, environment, kind)     a plan with its price; spends nothing
    start(plan_id, environment)           begins exactly that plan, once, and returns within a second or two
    look(job, environment)                phase, progress and cost, from files: nobody has to be running
    result(job, environment)              what came of it
    cancel(job, environment)              aborts the calls under way

The process (`python -m skillopt_sleep.jobs`) runs the same use-case as the terminal does. It outlives the session and
the server that started it; everything about it lies in the project's folder of the state.
"""

from skillopt_sleep.jobs.offers import may_ask, offer
from skillopt_sleep.jobs.tending import cancel, look, overview, result, start

__all__ = ["cancel", "look", "may_ask", "offer", "overview", "result", "start"]
