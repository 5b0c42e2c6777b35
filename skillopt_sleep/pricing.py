"""What models cost: a dated list that comes with the package, and before it a person's own.

    # prices.toml in the state folder
    [models]
    "openai:my-model" = [0.20, 0.80]           # dollars for a million tokens: input, output[, cache read, cache write]

A model is looked up by its whole id ("anthropic:claude-haiku-4-5"), then by its name alone, then by its name without
the date at its end. An unknown price is None and never a guess: caps on calls and tokens hold all the same.
"""

from __future__ import annotations

import re
import tomllib
from datetime import date
from importlib import resources
from typing import Annotated, Any

from pydantic import Field, ValidationError

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.ports import Local, Model
from skillopt_sleep.domain.spending import FREE, Price

_WITHOUT_A_BILL = ("sim:", "template", "scripted:")
_DATE = re.compile(r"[-@]\d{8}$")

_Dollars = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
_Row = tuple[_Dollars, _Dollars] | tuple[_Dollars, _Dollars, _Dollars, _Dollars]


class _File(Frozen):
    as_of: date | None = None
    models: dict[str, _Row] = {}
    long_prompts: dict[str, tuple[Annotated[int, Field(gt=0)], Annotated[float, Field(ge=1.0)]]] = {}


class PriceList(Frozen):
    """Prices by model, the person's own before the built-in ones."""

    as_of: date
    """Day of the built-in list."""
    own: dict[str, Price] = {}
    built_in: dict[str, Price] = {}

    def of(self, model: Model) -> Price | None:
        """The price of a model; None where it is not known. What stands on this machine or beside it costs nothing."""
        if isinstance(model, Local) and model.is_local and model.id not in self.own:
            return FREE
        return self.named(model.id)

    def named(self, model: str) -> Price | None:
        """The price of a model by its id; None where it is not known."""
        if model.startswith(_WITHOUT_A_BILL):
            return FREE
        name = model.partition(":")[2] or model
        for spelling in (model, name, _DATE.sub("", name)):
            if found := self.own.get(spelling) or self.built_in.get(spelling):
                return found
        return None


def price_list(own: bytes | None = None, *, where: str = "prices.toml") -> PriceList:
    """The built-in list, with a person's own file before it. Raises `InputError` that names the file and the entry."""
    built_in = _read(resources.files("skillopt_sleep").joinpath("prices.toml").read_bytes(), "the built-in prices")
    if built_in.as_of is None:
        raise ValueError("the built-in prices carry no date")
    return PriceList(
        as_of=built_in.as_of,
        own=_prices(_read(own, where)) if own is not None else {},
        built_in=_prices(built_in),
    )


def _read(data: bytes, where: str) -> _File:
    try:
        table: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
        return _File.model_validate(table)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{where} is not valid TOML: {error}.", hint="Correct it, or move it away.") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][:2])
        raise InputError(
            f"{where}, {place}: {first['msg']}.", hint='A price is [input, output]: "backend:model" = [3.0, 15.0].'
        ) from error


def _prices(file: _File) -> dict[str, Price]:
    found = {}
    for name, row in file.models.items():
        read, write = row[2:] if len(row) == 4 else (None, None)
        long_from, long_factor = file.long_prompts.get(name, (None, 1.0))
        found[name] = Price(
            input=row[0],
            output=row[1],
            cache_read=read,
            cache_write=write,
            long_from=long_from,
            long_factor=long_factor,
        )
    return found
