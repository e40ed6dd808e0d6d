"""How many machines of which kind serve an LLM within its latency SLOs, with proof of optimality."""

__version__ = "0.1.0"
