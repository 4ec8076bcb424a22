"""Every metric that Potluck counts, for Prometheus. docs/operating.md lists them, and a test compares the two.

    REQUEST_SECONDS.observe(seconds, ("GET", "/api/v1/me", "200"))

No label holds what people wrote, an id or a secret: routes are templates, and all others are words of the code.
"""

from potluck.metrics.instruments import Counter, Gauge, Histogram

__all__ = ["Counter", "Gauge", "Histogram"]

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

# --- requests ---------------------------------------------------------------------------------------------------------

REQUEST_SECONDS = Histogram(
    "potluck_request_seconds",
    "Requests, and the time until their response began; the status of one whose client left first is gone",
    "method",
    "route",
    "status",
    bounds=SECONDS,
)
REQUESTS_RUNNING = Gauge("potluck_requests_running", "Requests in progress, open event streams included")
CONNECTIONS = Gauge("potluck_connections", "Open connections")
CONNECTIONS_REFUSED = Counter(
    "potluck_connections_refused_total", "Requests refused before they reached the application", "status"
)
STREAMS = Gauge("potluck_event_streams", "Open event streams")
RATE_LIMITED = Counter("potluck_rate_limited_total", "Requests refused by a rate limit", "limit")
SIGN_INS_FAILED = Counter("potluck_sign_ins_failed_total", "Sign-ins with a wrong address or password")
NO_ROOM = Counter("potluck_no_room_total", "Writes refused because the store or its disk is too full")

# --- the engine -------------------------------------------------------------------------------------------------------

WRITE_SECONDS = Histogram(
    "potluck_write_seconds", "Writes to the embedded store, and the time until each was on disk", bounds=SECONDS
)
COMMIT_SECONDS = Histogram(
    "potluck_commit_seconds", "Commits of the embedded store, and the time that each took", bounds=SECONDS
)
COMMIT_WRITES = Histogram(
    "potluck_commit_writes",
    "Writes in one commit of the embedded store",
    bounds=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
)
WRITER_QUEUE = Gauge("potluck_writer_queue", "Writes that wait for their commit")
THREADS_QUEUE = Gauge("potluck_threads_queue", "Work that waits for a thread", "pool")
CALL_SECONDS = Histogram(
    "potluck_dynamodb_call_seconds",
    "Calls of Amazon DynamoDB, and the time until each was answered or had failed",
    "operation",
    bounds=SECONDS,
)
RETRIES = Counter(
    "potluck_retries_total", "Requests to the engine that were repeated, by what the attempt before met", "met"
)
GAVE_UP = Counter("potluck_gave_up_total", "Requests to the engine that failed after all their attempts", "met")
CONFLICTS = Counter("potluck_conflicts_total", "Writes that were worked out again because another one was faster")
STORE_BYTES = Gauge(
    "potluck_store_bytes", "The size of all rows, indexes and change logs of the embedded store", combined="max"
)
STORE_BUDGET_BYTES = Gauge("potluck_store_budget_bytes", "How large the embedded store may become", combined="max")
WAL_BYTES = Gauge("potluck_store_wal_bytes", "The size of the embedded store's write-ahead log", combined="max")
DISK_FREE_BYTES = Gauge("potluck_disk_free_bytes", "Free space on the disk of the data folder", combined="min")

BACKUP_AT = Gauge(
    "potluck_backup_timestamp_seconds",
    "When the last scheduled backup was begun that could be restored, as a Unix timestamp",
    combined="max",
)

# --- streams ----------------------------------------------------------------------------------------------------------

TAIL_LAG_SECONDS = Gauge(
    "potluck_tail_lag_seconds",
    "How old the record is that live updates have read last; 0 at the end",
    "table",
    combined="max",
)
CONSUMER_LAG_SECONDS = Gauge(
    "potluck_consumer_lag_seconds",
    "How old the record is that a consumer handles; 0 if it has none",
    "consumer",
    combined="max",
)
CONSUMER_FAILURES = Counter(
    "potluck_consumer_failures_total", "Attempts to handle a record that failed, except by a passing outage", "consumer"
)
CONSUMER_PARKED = Counter(
    "potluck_consumer_parked_total", "Records set aside because no attempt could handle them", "consumer"
)
CONSUMER_SHARDS = Gauge(
    "potluck_consumer_shards", "Shards of change logs that this process reads for the consumers; each has one reader"
)

# --- the process ------------------------------------------------------------------------------------------------------

STATE = Gauge("potluck_state", "1 while the suite is in this state, else 0", "state", combined="max")
CLOCK_JUMPS = Counter("potluck_clock_jumps_total", "How often the system's clock has jumped", "direction")
WORKERS = Gauge("potluck_workers", "Processes that serve requests and have answered for this page")
MEMORY_BYTES = Gauge("process_resident_memory_bytes", "Resident memory, of all processes together")
CPU_SECONDS = Counter("process_cpu_seconds_total", "Processor time, of all processes together")
OPEN_FILES = Gauge("process_open_fds", "Open file descriptors, of all processes together")
START_SECONDS = Gauge(
    "process_start_time_seconds", "When the first process started, as a Unix timestamp", combined="min"
)
