"""Names as Kubernetes takes them, of anything that a user may call a machine or a model.

An object's name is a DNS label (RFC 1123): small letters, digits and hyphens, a letter or digit at both
ends, 63 characters at most; a label's value may have capitals, dots and underscores too. What had to be changed gets a
few digits of a hash, so that different names stay different.
"""

from __future__ import annotations

import hashlib
import re

MOST = 63
_DIGITS = 6


def dns_label(text: str, most: int = MOST) -> str:
    """The name of an object, a letter first."""
    made = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if made[:1].isdigit():
        made = f"n{made}"
    return made if made == text and len(made) <= most else _marked(made, text, most)


def label_value(text: str) -> str:
    """The value of a label."""
    made = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    return made if made == text and len(made) <= MOST else _marked(made, text, MOST)


def _marked(made: str, text: str, most: int) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
    return f"{made[: most - _DIGITS - 1].strip('-._') or 'x'}-{digest}"
