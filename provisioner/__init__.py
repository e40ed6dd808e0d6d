"""How many machines of which kind serve an LLM within its latency SLOs, with proof of optimality."""

from importlib.metadata import version as _version

__version__ = _version("provisioner")
