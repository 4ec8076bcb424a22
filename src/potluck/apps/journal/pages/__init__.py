"""The pages: writing an entry, the timeline, one entry, statistics, the assistant, coaches and athletes, settings."""
