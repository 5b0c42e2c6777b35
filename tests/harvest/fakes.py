from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from skillopt_sleep.domain.digests import Bookmark, Digest, Entry
from skillopt_sleep.domain.sessions import Session


class MemoryIndex:
    """An index that lives as long as the test."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[str, Digest]] = {}

    def entries(self, source: str, root: str, /) -> Mapping[str, Entry]:
        return {
            path: digest.entry
            for (name, path), (under, digest) in self._kept.items()
            if (name, under) == (source, root)
        }

    def sessions(self, source: str, paths: Iterable[str], /) -> Iterator[tuple[str, Session]]:
        for path in paths:
            if (source, path) in self._kept and (session := self._kept[source, path][1].session):
                yield path, session

    def bookmark(self, source: str, path: str, /) -> tuple[Session, Bookmark] | None:
        digest = self._kept[source, path][1] if (source, path) in self._kept else None
        return (digest.session, digest.bookmark) if digest and digest.session and digest.bookmark else None

    def keep(self, source: str, root: str, digests: Sequence[Digest], /) -> None:
        self._kept |= {(source, digest.entry.path): (root, digest) for digest in digests}

    def forget(self, source: str, paths: Iterable[str], /) -> None:
        for path in paths:
            self._kept.pop((source, path), None)
