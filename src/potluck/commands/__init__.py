"""The `potluck` command: one module per subcommand, listed in `main.py`."""
