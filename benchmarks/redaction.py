"""Secrets planted and leaked, by kind and by form; and how many ordinary tokens were masked.

    python -m benchmarks.redaction [SEEDS]

Two halves: `benchmarks.redaction_corpus`, written by someone who had not read the redactor, and `tests.redact`, written
beside it. A secret has leaked when eight characters in a row of its noise (all of them, where there are fewer) can be
read in the result after undoing percent-encoding and dropping all that is no letter or digit.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from benchmarks.redaction_corpus.forms import ENVELOPES, TOKEN_FORMS
from benchmarks.redaction_corpus.ordinary import texts
from benchmarks.redaction_corpus.secrets import Noise, Secret, carried, private_keys, tokens
from skillopt_sleep.redact import redact

WINDOW = 8


@dataclass(frozen=True)
class Planted:
    """A secret in its surroundings; `form` says which, `envelope` what the transport made of the text."""

    kind: str
    form: str
    envelope: str
    text: str
    core: str


@dataclass
class Tally:
    planted: Counter[str] = field(default_factory=Counter)
    leaked: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, leaked: bool) -> None:
        self.planted[name] += 1
        self.leaked[name] += leaked

    def worst(self) -> list[tuple[str, int, int]]:
        return [
            (name, self.leaked[name], self.planted[name]) for name, _ in self.leaked.most_common() if self.leaked[name]
        ]


def plants(seed: int) -> Iterator[Planted]:
    """Every token in every form, every carried secret and private key as it stands; all of them in every envelope."""
    noise = Noise(seed)
    for secret in tokens(noise):
        for form, write in TOKEN_FORMS.items():
            yield from _enveloped(secret, form, write(secret.text))
    for carrier, secret in carried(noise):
        yield from _enveloped(secret, carrier, secret.text)
    for secret in private_keys(noise):
        yield from _enveloped(secret, "as it stands", secret.text)


def _enveloped(secret: Secret, form: str, text: str) -> Iterator[Planted]:
    for envelope, wrap in ENVELOPES.items():
        yield Planted(secret.kind, form, envelope, wrap(text), secret.core)


def squashed(text: str) -> str:
    """Letters and digits only, so that a line break or a quote inside a secret does not hide that it is there."""
    return re.sub(r"[\W_]", "", unquote(text))


def leaks(core: str, result: str) -> bool:
    """Whether a window of the secret's noise can still be read."""
    wanted, rest = squashed(core), squashed(result)
    return any(wanted[start : start + WINDOW] in rest for start in range(max(1, len(wanted) - WINDOW + 1)))


def falsely_masked(text: str) -> list[str]:
    """The ordinary tokens (what white space separates) that did not come back."""
    result, _ = redact(text)
    return list((Counter(text.split()) - Counter(result.split())).elements())


def main(seeds: int) -> None:
    by_kind, by_form, by_envelope = Tally(), Tally(), Tally()
    started, characters = time.process_time(), 0
    for seed in range(seeds):
        for plant in plants(seed):
            result, _ = redact(plant.text)
            leaked = leaks(plant.core, result)
            characters += len(plant.text)
            for tally, name in ((by_kind, plant.kind), (by_form, plant.form), (by_envelope, plant.envelope)):
                tally.add(name, leaked)
    seconds = time.process_time() - started
    print(f"planted {by_kind.planted.total():,}, leaked {by_kind.leaked.total():,}; kinds {len(by_kind.planted)}, ")
    print(f"CPU {seconds:.1f} s for {characters:,} characters")
    for title, tally in (("kind", by_kind), ("form", by_form), ("envelope", by_envelope)):
        print(f"leaked by {title}")
        for name, leaked_here, planted in tally.worst():
            print(f"  {name:32} {leaked_here:5} of {planted}")
    _ordinary(seeds)


def _ordinary(seeds: int) -> None:
    read, masked = Counter[str](), Counter[str]()
    examples: dict[str, list[str]] = {}
    for seed in range(seeds):
        for ordinary in texts(Noise(seed)):
            read[ordinary.kind] += len(ordinary.text.split())
            lost = falsely_masked(ordinary.text)
            masked[ordinary.kind] += len(lost)
            examples.setdefault(ordinary.kind, lost)
    print(f"ordinary tokens {read.total():,}, masked {masked.total():,} ({masked.total() / read.total():.3%})")
    for kind, count in masked.most_common():
        if count:
            print(f"  {kind:24} {count:5} of {read[kind]}  {examples[kind][:6]}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
