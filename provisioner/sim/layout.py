"""What the state is to the compiler: named tuples in a block of memory, arrays by their addresses, rows of arrays.

numba hands arrays and tuples from function to function number by number, more than two hundred for the whole state; an
address is one. Nothing of the block changes while the kernel runs, and the compiler is told so. Places in an array are
never negative here, which spares asking, with every one, whether it counts from the end.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    Signature,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import lower_builtin, lower_getattr_generic, lower_setattr_generic, models, register_model
from numba.np.numpy_support import from_dtype

from provisioner.sim.block import WORD_BYTES

_WORD = ir.IntType(8 * WORD_BYTES)


class Row(types.Type):
    """A row of an array of records, by its address."""

    def __init__(self, name: str, dtype: np.dtype[Any]) -> None:
        super().__init__(name)
        self.dtype = dtype

    def field(self, name: str) -> tuple[Any, int, tuple[int, ...]]:
        """The type of a field, where it begins, and its shape if it is an array."""
        dtype, offset_bytes = self.dtype.fields[name][:2]  # type: ignore[index]
        if dtype.subdtype is None:
            return from_dtype(dtype), offset_bytes, ()
        return Table(f"{self.name}.{name}", from_dtype(dtype.base), len(dtype.shape)), offset_bytes, dtype.shape


class Table(types.Type):
    """An array without gaps, of numbers or of records: its address and its shape."""

    def __init__(self, name: str, of: Any, dimensions: int) -> None:
        super().__init__(name)
        self.of = of
        self.dimensions = dimensions
        self.shape = types.UniTuple(types.intp, dimensions)
        self.words = 1 + dimensions


class Block(types.Type):
    """A named tuple, by the address of its words."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(name)
        self.fields = fields
        self.offset_bytes = {}
        self.words = 0
        for field, kind in fields.items():
            self.offset_bytes[field] = WORD_BYTES * self.words
            self.words += getattr(kind, "words", 1)


def kind_of(value: Any, name: str) -> Any:
    """The type of a value, whatever it is; the name is for whoever reads what the compiler writes."""
    if isinstance(value, tuple):
        fields = value._fields  # type: ignore[attr-defined]
        return Block(name, {field: kind_of(each, f"{name}.{field}") for field, each in zip(fields, value, strict=True)})
    if isinstance(value, np.ndarray):
        of = from_dtype(value.dtype) if value.dtype.fields is None else Row(f"{name}[]", value.dtype)
        return Table(name, of, value.ndim)
    if isinstance(value, np.void):
        return Row(name, value.dtype)
    return types.boolean if isinstance(value, bool) else types.float64 if isinstance(value, float) else types.int64


@register_model(Row)
@register_model(Block)
class _ByAddress(models.OpaqueModel):
    pass


@register_model(Table)
class _AsTable(models.StructModel):
    def __init__(self, manager: Any, kind: Table) -> None:
        super().__init__(manager, kind, [("data", types.voidptr), ("shape", kind.shape)])


@infer_getattr
class _BlockFields(AttributeTemplate):
    key = Block

    def generic_resolve(self, block: Block, field: str) -> Any:  # type: ignore[override]
        return block.fields.get(field)


@infer_getattr
class _RowFields(AttributeTemplate):
    key = Row

    def generic_resolve(self, row: Row, field: str) -> Any:  # type: ignore[override]
        return row.field(field)[0]


@infer_getattr
class _TableFields(AttributeTemplate):
    key = Table

    def resolve_shape(self, table: Table) -> Any:
        return table.shape


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, arguments: tuple[Any, ...], _: object) -> Signature | None:
        return signature(types.intp, *arguments) if isinstance(arguments[0], Table) else None


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, arguments: tuple[Any, ...], _: object) -> Signature | None:
        return signature(arguments[0].of, *arguments) if isinstance(arguments[0], Table) else None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, arguments: tuple[Any, ...], _: object) -> Signature | None:
        table, place = arguments[:2]
        return signature(types.none, table, place, table.of) if isinstance(table, Table) else None


def _table(context: Any, builder: Any, kind: Table, address: Any, shape: list[Any]) -> Any:
    table = cgutils.create_struct_proxy(kind)(context, builder)
    table.data = address
    table.shape = cgutils.pack_array(builder, shape)
    return table._getvalue()  # noqa: SLF001 - so does all of numba


def _constant(builder: Any, address: Any, kind: Any) -> Any:
    """Load what never changes."""
    value = builder.load(builder.bitcast(address, kind.as_pointer()))
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@lower_getattr_generic(Block)
def _field_of_block(context: Any, builder: Any, block: Block, value: Any, field: str) -> Any:
    kind = block.fields[field]

    def address(word: int) -> Any:
        return cgutils.pointer_add(builder, value, _WORD(block.offset_bytes[field] + WORD_BYTES * word))

    if isinstance(kind, Block):
        return address(0)
    if isinstance(kind, Table):
        data, *shape = (_constant(builder, address(word), _WORD) for word in range(kind.words))
        return _table(context, builder, kind, builder.inttoptr(data, context.get_value_type(types.voidptr)), shape)
    if kind == types.boolean:
        return builder.icmp_unsigned("!=", _constant(builder, address(0), _WORD), _WORD(0))
    return _constant(builder, address(0), context.get_value_type(kind))


@lower_getattr_generic(Row)
def _field_of_row(context: Any, builder: Any, row: Row, value: Any, field: str) -> Any:
    kind, offset_bytes, shape = row.field(field)
    address = cgutils.pointer_add(builder, value, _WORD(offset_bytes))
    if isinstance(kind, Table):
        return _table(context, builder, kind, address, [_WORD(length) for length in shape])
    return _load(context, builder, kind, address)


@lower_setattr_generic(Row)
def _set_field_of_row(context: Any, builder: Any, call: Signature, arguments: Any, field: str) -> None:
    row, given = call.args
    kind, offset_bytes, _ = row.field(field)
    value = context.cast(builder, arguments[1], given, kind)
    _store(context, builder, kind, value, cgutils.pointer_add(builder, arguments[0], _WORD(offset_bytes)))


@lower_getattr_generic(Table)
def _shape(context: Any, builder: Any, table: Table, value: Any, field: str) -> Any:
    return getattr(cgutils.create_struct_proxy(table)(context, builder, value=value), field)


@lower_builtin(len, Table)
def _length(context: Any, builder: Any, call: Signature, arguments: Any) -> Any:
    return builder.extract_value(_shape(context, builder, call.args[0], arguments[0], "shape"), 0)


@lower_builtin(operator.getitem, Table, types.Integer)
@lower_builtin(operator.getitem, Table, types.BaseTuple)
def _get_item(context: Any, builder: Any, call: Signature, arguments: Any) -> Any:
    table = call.args[0]
    address = _address(context, builder, call, arguments)
    return address if isinstance(table.of, Row) else _load(context, builder, table.of, address)


@lower_builtin(operator.setitem, Table, types.Integer, types.Any)
@lower_builtin(operator.setitem, Table, types.BaseTuple, types.Any)
def _set_item(context: Any, builder: Any, call: Signature, arguments: Any) -> Any:
    _store(context, builder, call.args[0].of, arguments[2], _address(context, builder, call, arguments))
    return context.get_dummy_value()


def _address(context: Any, builder: Any, call: Signature, arguments: Any) -> Any:
    """Where an item stands, by its place or, in two dimensions, its row and its column."""
    (table, kind), (value, place) = call.args[:2], arguments[:2]
    parts = cgutils.create_struct_proxy(table)(context, builder, value=value)
    if table.dimensions == 1:
        number = context.cast(builder, place, kind, types.intp)
    else:
        row, column = (
            context.cast(builder, builder.extract_value(place, axis), kind[axis], types.intp) for axis in range(2)
        )
        number = builder.add(builder.mul(row, builder.extract_value(parts.shape, 1)), column)
    size_bytes = table.of.dtype.itemsize if isinstance(table.of, Row) else table.of.bitwidth // 8
    return cgutils.pointer_add(builder, parts.data, builder.mul(number, _WORD(size_bytes)))


def _load(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    pointer = builder.bitcast(address, context.get_data_type(kind).as_pointer())
    return context.unpack_value(builder, kind, pointer)


def _store(context: Any, builder: Any, kind: Any, value: Any, address: Any) -> None:
    pointer = builder.bitcast(address, context.get_data_type(kind).as_pointer())
    context.pack_value(builder, kind, value, pointer)
