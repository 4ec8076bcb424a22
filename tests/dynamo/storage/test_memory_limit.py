"""What a container allows decides how much of a store is mapped and cached."""

from pathlib import Path

import apsw
import pytest

from potluck.dynamo.storage import connection as connections
from potluck.dynamo.storage.connection import open_connection
from potluck.dynamo.storage.memory_limit import _limits

MB = 1 << 20


def limits(folder: Path, groups: str, files: dict[str, str]) -> list[int]:
    for name, content in files.items():
        (folder / "fs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "fs" / name).write_text(content)
    (folder / "cgroup").write_text(groups)
    return _limits(folder / "cgroup", folder / "fs")


def test_the_limits_of_a_group_and_of_those_around_it_count(tmp_path):
    files = {"system/memory.max": "2147483648\n", "system/potluck/memory.max": "max\n"}
    assert limits(tmp_path, "0::/system/potluck\n", files) == [2048 * MB]


def test_a_container_sees_its_own_limit_at_the_root(tmp_path):
    assert limits(tmp_path, "0::/../elsewhere\n", {"memory.max": "536870912\n"}) == [512 * MB]


def test_the_first_version_of_control_groups_has_the_memory_of_its_own(tmp_path):
    files = {"memory/docker/1/memory.limit_in_bytes": "268435456\n", "cpu/docker/1/memory.limit_in_bytes": "1\n"}
    assert limits(tmp_path, "5:cpu:/docker/1\n4:memory:/docker/1\n0::/\n", files) == [256 * MB]


def test_a_system_without_control_groups_has_no_limit(tmp_path):
    assert _limits(tmp_path / "none", tmp_path) == []


@pytest.mark.parametrize(("limit", "mapped", "cached"), [(512 * MB, 16 * MB, 8 * MB), (64 << 30, 1 << 30, 32 * MB)])
def test_a_connection_maps_and_caches_a_part_of_what_the_process_may_use(tmp_path, monkeypatch, limit, mapped, cached):
    monkeypatch.setattr(connections, "memory_limit", lambda: limit)
    connection: apsw.Connection = open_connection(str(tmp_path / "store.db"), writes=True)
    assert connection.execute("PRAGMA mmap_size").get == mapped
    assert connection.execute("PRAGMA cache_size").get == -cached >> 10
    connection.close()
