"""The pages of Shopping; each module declares those of one subject."""
