"""The peak of a body is what the process used while it ran, and nothing that an earlier body used."""

import os

from jobs.worker.children.peak import Peak

MIB = 1024 * 1024


def use(mib: int) -> None:
    block = bytearray(mib * MIB)
    block[:: os.sysconf("SC_PAGE_SIZE")] = b"x" * len(range(0, len(block), os.sysconf("SC_PAGE_SIZE")))


def test_a_body_that_uses_more_has_a_higher_peak_and_the_next_one_has_not():
    peak = Peak()
    peak.reset()
    before = peak.read()
    use(64)
    assert before + 60 <= peak.read() <= before + 100
    peak.reset()
    assert peak.read() <= before + 30


def test_without_the_kernel_s_help_nothing_is_told(monkeypatch):
    def refuse(*_):
        raise OSError

    monkeypatch.setattr(os, "open", refuse)
    peak = Peak()
    peak.reset()
    assert peak.read() is None


def test_a_body_that_closed_the_file_ends_the_measuring_alone():
    peak = Peak()
    os.close(peak._file)
    peak.reset()
    assert peak.read() is None


def test_a_stranger_s_file_that_has_the_number_now_is_not_written(tmp_path):
    peak = Peak()
    with (tmp_path / "other").open("wb") as other:
        os.dup2(other.fileno(), peak._file)
        peak.reset()
    assert peak.read() is None
    assert (tmp_path / "other").read_bytes() == b""
    os.close(peak._file)
