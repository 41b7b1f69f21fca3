"""The sentences of the checks, by key; see `tmalab.texts`.

>>> text("report.points", earned="3", maximum="5")
'3 of 5 points'
"""

from tmalab.texts import Catalogue

text = Catalogue("grader")
