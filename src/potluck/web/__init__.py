"""What every page and every JSON answer shares."""

from potluck.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
