"""DynamoDB in other people's tests: the pytest plugin, which pytest finds by itself."""
