"""The pages of accounts; each module declares those of one subject."""
