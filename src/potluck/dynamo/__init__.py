"""DynamoDB in this process: `Database` for services, `SyncDatabase` for scripts, `mocked` and `attach` for tests."""

from potluck.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
