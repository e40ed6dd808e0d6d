"""Find a thing by name or path and return it as a frozen domain value, or every fault at once.

`Catalog` is the door. `read_document` and `checked` are what it is built of, for readers of other YAML files.
"""

from provisioner.catalog.catalog import Catalog
from provisioner.catalog.checking import checked
from provisioner.catalog.document import Document, read_document
from provisioner.catalog.override import parse_override
from provisioner.catalog.preset import Preset

__all__ = ["Catalog", "Document", "Preset", "checked", "parse_override", "read_document"]
