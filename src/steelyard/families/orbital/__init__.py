"""Earth-orbit items: element sets in, periods, comparisons and checks out.

The families stand here for the entry points; everything else is imported from the module that owns it. Importing
this package needs only the standard library and msgspec: sgp4 and numpy load when a catalogue or an orbit is asked for.
"""

from steelyard.families.orbital.compare_items import compare
from steelyard.families.orbital.extreme_items import extreme
from steelyard.families.orbital.period_items import period

__all__ = ["compare", "extreme", "period"]
