"""PartiQL: a parser, and one module per statement, which compiles it to the reads and writes of other operations."""
