"""Go for papermill.

papermill has no entry point for translators, but loads all engines when it is
imported. This module is one, and registers the translator on the way.
"""

import json
import math

from papermill.engines import NBClientEngine
from papermill.exceptions import PapermillException
from papermill.translators import Translator, papermill_translators


class Engine(NBClientEngine):
    """papermill's own engine, under the name quern."""


class GoTranslator(Translator):
    """Parameters as assignments.

    An assignment keeps the types of the cell tagged "parameters", so that
    -p rate 1 leaves a float64 what it is, and refuses a name that the cell does
    not have.
    """

    @classmethod
    def comment(cls, text):
        return "\n".join(f"// {line}" for line in text.splitlines())

    @classmethod
    def translate_none(cls, value):
        return "nil"

    @classmethod
    def translate_str(cls, value):
        # JSON is Go here once nothing is written as \\uD83D\\uDE00.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f").replace("\ufeff", "\\ufeff")

    translate_escaped_str = translate_str

    @classmethod
    def translate_float(cls, value):
        if math.isnan(value):
            return "math.NaN()"
        if math.isinf(value):
            return f"math.Inf({'1' if value > 0 else '-1'})"
        return repr(float(value))

    @classmethod
    def translate_list(cls, values):
        if not values:
            return "nil"  # of whatever type
        return cls.go_type(values) + "{" + ", ".join(cls.element(v) for v in values) + "}"

    @classmethod
    def translate_dict(cls, values):
        if not values:
            return "nil"
        pairs = (f"{cls.translate_str(str(k))}: {cls.element(v)}" for k, v in values.items())
        return cls.go_type(values) + "{" + ", ".join(pairs) + "}"

    @classmethod
    def translate(cls, value):
        if isinstance(value, tuple):
            value = list(value)
        if value is not None and not isinstance(value, (str, bool, int, float, dict, list)):
            value = str(value)  # a date of a YAML file, for instance
        return super().translate(value)

    @classmethod
    def element(cls, value):
        """A value inside of another one."""
        if value == [] or value == {} or value == ():
            return cls.go_type(value) + "{}"
        return cls.translate(value)

    @classmethod
    def go_type(cls, value):
        """The type of the literal for a value; any for what has no one type."""
        if isinstance(value, dict):
            return "map[string]" + cls.common(value.values())
        if isinstance(value, (list, tuple)):
            return "[]" + cls.common(value)
        for python, go in ((bool, "bool"), (int, "int"), (float, "float64"), (str, "string")):
            if isinstance(value, python):
                return go
        return "any"

    @classmethod
    def common(cls, values):
        types = {cls.go_type(v) for v in values}
        if types == {"int", "float64"}:
            return "float64"
        return types.pop() if len(types) == 1 else "any"

    @classmethod
    def assign(cls, name, text):
        if not name.isidentifier():
            raise PapermillException(f"{name!r} is not the name of a Go variable")
        return f"{name} = {text}"


for _name in ("go", "quern"):
    papermill_translators.register(_name, GoTranslator)
