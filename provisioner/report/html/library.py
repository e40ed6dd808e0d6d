"""Vega, Vega-Lite and Vega-Embed as one script, as the package that brings them puts them together."""

from __future__ import annotations

from functools import cache

import vl_convert


@cache
def vega() -> str:
    """The script; nothing in it ends a script element."""
    return (
        vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
        .replace("</script", "<\\/script")
        .replace("<!--", "<\\!--")
    )
