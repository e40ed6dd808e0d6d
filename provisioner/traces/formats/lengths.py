"""Bare lists of lengths: the columns of the plain format without arrivals, or two whole numbers a row and no head line.

Such a list says nothing about when requests arrive: it needs an arrival process and a rate.
"""

from provisioner.traces.formats.format import NamedColumns

LENGTHS = NamedColumns(name="lengths", arrival=None, prompt="prompt_tokens", output="output_tokens")
