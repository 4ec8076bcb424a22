"""Moving: the tables of a store in a folder, in DynamoDB's own export format, and from there into another store."""
