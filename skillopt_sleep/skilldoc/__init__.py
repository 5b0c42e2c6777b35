"""A skill document: one managed region that is ours, and everything else, which stays byte for byte as it is.

    <!-- skillopt-sleep:begin lead=2 -->
    ## Learned rules

    - Always end with the ticket number. <!-- rule:3f9c21ab -->
      More lines of the same rule are indented.
    <!-- skillopt-sleep:end -->

`lead` says how many line ends were put before the region, so that a region which loses its last rule can go without a
trace. Edits work on the lines of one rule each; whatever else a person writes into the region stays where it is. A list
item that a person adds there by hand is a rule like any other; its id is derived from its text.
"""

from skillopt_sleep.ruletext import same_rule
from skillopt_sleep.skilldoc.document import HEADING, SkillDoc, unified_diff

__all__ = ["HEADING", "SkillDoc", "same_rule", "unified_diff"]
