"""What every page and every JSON answer shares."""
