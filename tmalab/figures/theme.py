"""Colours of the figures, light and dark: one palette for the browser's widget and for the static SVG.

Eight tints tell the 16-byte sectors of a row apart; every sector carries its number and an outline as well, so that no
meaning hangs on colour. In JupyterLab the background and the text follow the chosen theme.

>>> round(contrast(LIGHT["text"], LIGHT["ground"]), 1)
17.2
"""

from __future__ import annotations

HUES = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#3fa7a0", "#d9b62f", "#8d6e63")  # by sector, repeating


def mixed(colour: str, ground: str, share: float) -> str:
    """`share` (0 to 1) of a #rrggbb colour in another one, as #rrggbb."""
    pairs = zip(_channels(colour), _channels(ground), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def contrast(one: str, other: str) -> float:
    """The contrast of two #rrggbb colours, 1 to 21 (WCAG 2.2, relative luminance)."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def theme_rules(selector: str) -> str:
    """CSS that gives `selector` the palette as variables (--tma-text, --tma-tint-0 ...), light or dark as its page is.

    JupyterLab and Notebook mark their body with data-jp-theme-light, VS Code with a class; elsewhere the system says.
    """
    unmarked = ":not([data-jp-theme-light] *):not(.vscode-light *)"
    light, dark = _variables("light", LIGHT), _variables("dark", DARK)
    rules = (
        f"{selector} {{ {light} }}",
        f'[data-jp-theme-light="false"] {selector}, .vscode-dark {selector} {{ {dark} }}',
        f"@media (prefers-color-scheme: dark) {{ {selector}{unmarked} {{ {dark} }} }}",
    )
    return "\n".join(rules)


def _variables(scheme: str, palette: dict[str, str]) -> str:
    values = palette | {name: f"var({theirs}, {palette[name]})" for name, theirs in JUPYTER.items()}
    return " ".join((f"color-scheme: {scheme};", *(f"--tma-{name}: {value};" for name, value in values.items())))


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(colour))]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _palette(share: float, **colours: str) -> dict[str, str]:
    """Colours by use, and the tints: `share` of each hue on the ground."""
    return colours | {f"tint-{place}": mixed(hue, colours["ground"], share) for place, hue in enumerate(HUES)}


LIGHT = _palette(
    0.32,
    ground="#ffffff",
    text="#1b1b1b",
    muted="#595959",  # captions
    line="#8a8a8a",  # sectors outside the tile
    edge="#5a5a5a",  # sectors of the tile, on their tints
    faint="#cfcfcf",  # what is no part of the tensor: decoration
    panel="#f4f4f4",  # behind the sentence
    accent="#0b57d0",  # the box, focus, changed bits
    warning="#8a3b00",
)
DARK = _palette(
    0.42,
    ground="#111111",
    text="#f0f0f0",
    muted="#b5b5b5",
    line="#757575",
    edge="#c4c4c4",
    faint="#3d3d3d",
    panel="#1f1f1f",
    accent="#8ab4f8",
    warning="#ffb77c",
)
JUPYTER = {"ground": "--jp-layout-color0", "text": "--jp-ui-font-color0"}  # follow the notebook's own theme
