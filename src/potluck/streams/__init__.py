"""Streams: a table's change log, its consumers, and the processes that share them."""

from potluck.streams.consumer import Consumer
from potluck.streams.consumer_group import ConsumerGroup
from potluck.streams.deliveries import DeliveredConsumer
from potluck.streams.handing_over import Following
from potluck.streams.leases import Lease, LeaseTerms, WorkTable
from potluck.streams.positions import Action
from potluck.streams.record_consumer import PositionLost, RecordConsumer
from potluck.streams.records import Concerns, Record
from potluck.streams.steps import StepDone, Steps, Work
from potluck.streams.triggers import Trigger, changed, created, deleted

__all__ = [
    "Action",
    "Concerns",
    "Consumer",
    "ConsumerGroup",
    "DeliveredConsumer",
    "Following",
    "Lease",
    "LeaseTerms",
    "PositionLost",
    "Record",
    "RecordConsumer",
    "StepDone",
    "Steps",
    "Trigger",
    "Work",
    "WorkTable",
    "changed",
    "created",
    "deleted",
]
