"""SkillOpt-Sleep: improve an agent's skills overnight, and know how sure you are that they improved.

Importing the package costs nothing: no adapter, SDK or template engine is loaded here.
"""

__version__ = "0.1.0"
