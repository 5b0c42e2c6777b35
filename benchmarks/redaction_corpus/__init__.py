"""Secrets in realistic surroundings and ordinary texts, written without knowledge of the redactor.

Whoever changes the redactor may add cases here, and may never remove or soften one. No string in these files is a key:
every secret is put together at run time from a public prefix and seeded noise.
"""
