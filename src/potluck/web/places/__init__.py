"""Places that people share, with members and invitations."""
