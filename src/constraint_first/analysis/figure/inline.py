"""Conversion of matplotlib's SVG file into an element for a page, whatever else is on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from constraint_first.analysis.figure.colour import INK

__all__ = ["inline"]

_FONTS: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_NAMESPACE: Final = re.compile(r"^\{[^}]*\}")
_GIVEN_ID: Final = re.compile(r"[a-z][a-z0-9-]*")
_LONG_PATH: Final = 1_000
_AROUND_COMMAND: Final = re.compile(r"\s*([A-Za-z])\s*")
_LONG_NUMBER: Final = re.compile(r"-?\d+\.\d{2,}")
_DROPPED: Final = ("metadata", "style")


def inline(svg: str, name: str, alt: str) -> str:
    """Rewrite an SVG file as one element.

    Ids begin with the figure's name, so that two figures on a page do not take each other's; the
    ink becomes ``currentColor``; styles become attributes, which a strict content policy lets pass
    and the page's own styles can override.
    """
    # The text was written by matplotlib a moment ago, and its declarations are cut off.
    root = ElementTree.fromstring(svg[svg.index("<svg") :])  # noqa: S314
    for element in root.iter():
        _plain(element)
    for parent in reversed([*root.iter()]):
        _prune(parent)
    wanted = {found for element in root.iter() for found in _references(element)}
    for element in root.iter():
        _rename(element, name, wanted)
    box = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib.update(_opening(name, alt, box))
    return ElementTree.tostring(root, encoding="unicode")


def _opening(name: str, alt: str, box: str) -> dict[str, str]:
    return {
        "xmlns": "http://www.w3.org/2000/svg",
        "id": name,
        "viewBox": box,
        "width": "100%",
        "role": "img",
        "aria-label": alt,
        "font-family": _FONTS,
        "font-weight": "400",
        "stroke-linejoin": "round",
        # A page's font may be a little wider than the one that was measured.
        "overflow": "visible",
    }


def _plain(element: ElementTree.Element) -> None:
    """Take namespaces off, and turn the style into attributes."""
    element.tag = _NAMESPACE.sub("", element.tag)
    found = {_NAMESPACE.sub("", key): value for key, value in element.attrib.items()}
    found |= dict(_declarations(found.pop("style", "")))
    found.pop("font-family", None)
    element.attrib.clear()
    element.attrib.update((key, _value(key, value)) for key, value in found.items())
    if not (element.text or "").strip():
        element.text = None
    element.tail = None


def _declarations(style: str) -> Iterator[tuple[str, str]]:
    for declaration in filter(None, (part.strip() for part in style.split(";"))):
        key, _, value = declaration.partition(":")
        yield key.strip(), value.strip()


def _value(key: str, value: str) -> str:
    """Write a value shortly: a hundredth of a point is finer than any screen."""
    if value == INK:
        return "currentColor"
    # Long paths are the outlines of words, which can do with a tenth.
    places = 1 if key == "d" and len(value) > _LONG_PATH else 2
    if key == "d":
        value = _AROUND_COMMAND.sub(r"\1", value.strip())
    return _LONG_NUMBER.sub(lambda number: _rounded(number[0], places), value)


def _rounded(number: str, places: int) -> str:
    short = f"{float(number):.{places}f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


def _prune(parent: ElementTree.Element) -> None:
    """Drop what says nothing: metadata, styles, and groups and definitions with nothing in them."""
    for child in [*parent]:
        empty = child.tag in ("g", "defs") and not len(child)
        if child.tag in _DROPPED or (empty and not _GIVEN_ID.fullmatch(child.get("id", ""))):
            parent.remove(child)


def _references(element: ElementTree.Element) -> Iterator[str]:
    for key, value in element.attrib.items():
        if found := _reference(key, value):
            yield found[2]


def _reference(key: str, value: str) -> tuple[str, str, str] | None:
    """Split a reference to an id into what stands before it, behind it, and itself."""
    if key == "href" and value.startswith("#"):
        return "#", "", value[1:]
    if value.startswith("url(#"):
        return "url(#", ")", value[5:-1]
    return None


def _rename(element: ElementTree.Element, name: str, wanted: set[str]) -> None:
    """Put the name before ids and references; drop the ids that matplotlib counts up itself."""
    own = element.get("id", "")
    if own in wanted or _GIVEN_ID.fullmatch(own):
        element.set("id", f"{name}-{own}")
    elif own:
        del element.attrib["id"]
    for key, value in element.attrib.items():
        if found := _reference(key, value):
            element.set(key, f"{found[0]}{name}-{found[2]}{found[1]}")
