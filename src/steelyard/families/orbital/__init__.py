"""Earth-orbit items: element sets in, periods, comparisons and checks out.

The families stand here for the entry points; everything else is imported from the module that owns it. Importing
this package needs only the standard library and msgspec: sgp4 and numpy load when a catalogue or an orbit is asked for.
"""

from steelyard.families.orbital.altitude_items import altitude
from steelyard.families.orbital.compare_items import compare
from steelyard.families.orbital.conjunction_items import conjunction
from steelyard.families.orbital.correlation_items import correlation
from steelyard.families.orbital.decay_items import decay
from steelyard.families.orbital.encounter_items import encounter
from steelyard.families.orbital.extreme_items import extreme
from steelyard.families.orbital.malformed_items import malformed
from steelyard.families.orbital.partner_items import partner
from steelyard.families.orbital.passes_items import orbital_pass
from steelyard.families.orbital.period_items import period

__all__ = [
    "altitude",
    "compare",
    "conjunction",
    "correlation",
    "decay",
    "encounter",
    "extreme",
    "malformed",
    "orbital_pass",
    "partner",
    "period",
]
