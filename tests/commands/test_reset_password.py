import apsw

from potluck.commands.main import main


def test_a_store_that_cannot_be_written_is_one_sentence(monkeypatch, tmp_path, capsys):
    def refused(*_, **__):
        raise apsw.ReadOnlyError("attempt to write a readonly database")

    # Root may write whatever its mode, so the file system cannot be asked to refuse.
    monkeypatch.setattr("potluck.dynamo.storage.connection.prepared", refused)
    store = tmp_path / "data" / "potluck.db"
    store.parent.mkdir()
    store.write_bytes(b"SQLite format 3")
    assert main(["reset-password", "ada@example.com", "--data", str(store.parent)]) == 1
    assert capsys.readouterr().err == (
        f"potluck: {store} cannot be written: a store needs its file and its folder to be writable\n"
    )


def test_there_is_no_password_to_reset_where_there_is_no_store(tmp_path, capsys):
    assert main(["reset-password", "ada@example.org", "--data", str(tmp_path / "data")]) == 1
    assert "there is no store at" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()
