"""Streams: a table's change log, its consumers, and the leases that give each consumer one owner."""

from potluck.streams.consumer import Consumer, Following, Handler, PositionLost
from potluck.streams.leases import Lease, Terms
from potluck.streams.positions import Action
from potluck.streams.records import Concerns, Record

__all__ = ["Action", "Concerns", "Consumer", "Following", "Handler", "Lease", "PositionLost", "Record", "Terms"]
