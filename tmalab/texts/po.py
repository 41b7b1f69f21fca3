"""Translations in gettext's format: `msgctxt` is a text's key, `msgid` its English, `msgstr` the translation.

A translation belongs to the English words that it was made of. Once these change it is found no more, and the reader
gets English, which is right, and not something that was right once. Entries that are marked `fuzzy` are guesses by the
tools, and are not read.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable


@cache
def translations(file: Traversable) -> Mapping[tuple[str, str], str]:
    """What a file translates: (key, English) to the translation. Nothing where there is no such file."""
    if not file.is_file():
        return {}
    from babel.messages.pofile import read_po  # those who read English do not wait for it

    catalogue = read_po(io.BytesIO(file.read_bytes()))
    made = (message for message in catalogue if message.id and message.string and not message.fuzzy)
    return {(message.context or "", str(message.id)): str(message.string) for message in made}
