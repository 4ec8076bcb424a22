"""Attribute values in wire form, short enough to read in a test."""

import base64
from typing import Any

__all__ = ["BS", "FALSE", "NS", "NULL", "SS", "TRUE", "B", "L", "M", "N", "S"]

Value = dict[str, Any]

TRUE: Value = {"BOOL": True}
FALSE: Value = {"BOOL": False}
NULL: Value = {"NULL": True}


def S(text: str) -> Value:
    return {"S": text}


def N(number: int | str) -> Value:
    return {"N": str(number)}


def B(data: bytes) -> Value:
    return {"B": base64.b64encode(data).decode()}


def SS(*texts: str) -> Value:
    return {"SS": list(texts)}


def NS(*numbers: int | str) -> Value:
    return {"NS": [str(number) for number in numbers]}


def BS(*data: bytes) -> Value:
    return {"BS": [base64.b64encode(part).decode() for part in data]}


def L(*values: Value) -> Value:
    return {"L": list(values)}


def M(**values: Value) -> Value:
    return {"M": values}
