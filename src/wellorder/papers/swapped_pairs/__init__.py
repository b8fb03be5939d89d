"""Learning to order by minimising swapped pairs, run again; its data sets in bins serve others as well."""

from .page import PARTS, PICTURED, picture
from .protocol import DATA_SETS, Binned, Pointwise, equal_bins, read_set

__all__ = ["DATA_SETS", "PARTS", "PICTURED", "Binned", "Pointwise", "equal_bins", "picture", "read_set"]
