"""Go for papermill.

papermill has no entry point for translators, but it loads all engines when it is
imported. This module provides an engine in order to register the translator.
"""

import json
import math

from papermill.engines import NBClientEngine
from papermill.exceptions import PapermillException
from papermill.translators import Translator, papermill_translators


class Engine(NBClientEngine):
    """papermill's own engine, under the name quern."""


class GoTranslator(Translator):
    """Writes parameters as assignments.

    An assignment keeps the types of the cell tagged "parameters": after -p rate 1,
    a float64 remains a float64. A name that the cell does not declare is an error.
    """

    @classmethod
    def comment(cls, text):
        return "\n".join(f"// {line}" for line in text.splitlines())

    @classmethod
    def translate_none(cls, value):
        return "nil"

    @classmethod
    def translate_str(cls, value):
        # JSON is valid Go if it has no surrogate pairs such as \\uD83D\\uDE00.
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
            return "nil"  # valid for any slice type
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
            value = str(value)  # for example a date in a YAML file
        return super().translate(value)

    @classmethod
    def element(cls, value):
        """Returns a value within another one."""
        if value == [] or value == {} or value == ():
            return cls.go_type(value) + "{}"
        return cls.translate(value)

    @classmethod
    def go_type(cls, value):
        """Returns the Go type of a value's literal; any if the elements have different types."""
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
