"""Streams: a table's change log, its consumers, and the leases that give each consumer one owner."""

from potluck.streams.consumer import Consumer
from potluck.streams.deliveries import DeliveredConsumer
from potluck.streams.leases import Lease, LeaseTerms, WorkTable
from potluck.streams.positions import Action
from potluck.streams.record_consumer import Following, PositionLost, RecordConsumer
from potluck.streams.records import Concerns, Record
from potluck.streams.triggers import Trigger, changed, created, deleted

__all__ = [
    "Action",
    "Concerns",
    "Consumer",
    "DeliveredConsumer",
    "Following",
    "Lease",
    "LeaseTerms",
    "PositionLost",
    "Record",
    "RecordConsumer",
    "Trigger",
    "WorkTable",
    "changed",
    "created",
    "deleted",
]
