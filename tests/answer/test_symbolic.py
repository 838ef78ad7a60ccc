import os
import resource
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from constraint_first.answer.grade import Ruling
from constraint_first.answer.symbolic import judge
from constraint_first.answer.workers import PROGRAM, Workers
from constraint_first.process import Pool, Undecided

# --- symbolic


def test_what_cannot_be_evaluated_is_left_open() -> None:
    assert judge("2x", "x+x").same is True
    ruling = judge(r"\frac{1}{x-x}", "1")
    assert (ruling.same, ruling.why) == (None, "the expressions cannot be evaluated")


# --- worker


def test_the_module_serves_the_symbolic_tier() -> None:
    with Pool(PROGRAM, 1) as pool:
        assert pool.ask("judge", "2x", "x+x", False) == [True, "equal symbolically"]
        assert pool.ask("judge", "2x", "x", False) == [False, "different symbolically"]
        assert pool.ask("is_whole", r"\pi") is False


# --- workers


# A judge that does what its first argument says.
PROGRAM_workers = """
import os, sys
from constraint_first.process import serve

def judge(pred, gold, percent):
    if pred == "spin":
        while True: pass
    if pred == "grow":
        bytearray(3 << 30)
    if pred == "exit":
        os._exit(3)
    if pred == "print":
        print("[true, 'not a verdict']")
    return [pred == gold, f"{os.getpid()}"]

def is_whole(text):
    return judge(text, "whole", False)[0]

serve({"judge": judge, "is_whole": is_whole}, cpu_seconds=0.2)
"""


@pytest.fixture
def workers() -> Iterator[Workers]:
    with Workers(2, ("-c", PROGRAM_workers)) as pool:
        yield pool


@pytest.mark.parametrize("deed", ["spin", "grow", "exit"])
def test_a_case_that_kills_its_worker_is_undecided_and_the_next_is_served(
    workers: Workers, deed: str
) -> None:
    with pytest.raises(Undecided):
        workers.judge(deed, "x")
    assert workers.judge("x", "x").same is True


def test_a_number_that_kills_its_worker_cannot_be_told(workers: Workers) -> None:
    assert workers.is_whole("spin") is None
    assert workers.is_whole("exit") is None
    assert workers.is_whole("whole") is True
    assert workers.is_whole("other") is False


def test_what_a_judge_prints_is_not_a_verdict(workers: Workers) -> None:
    assert workers.judge("print", "x").same is False


def test_it_works_from_many_threads_with_few_processes(workers: Workers) -> None:
    def judge(number: int) -> Ruling:
        return workers.judge(str(number % 2), "0")

    with ThreadPoolExecutor(8) as threads:
        rulings = list(threads.map(judge, range(64)))
    assert [ruling.same for ruling in rulings] == [n % 2 == 0 for n in range(64)]
    assert len({ruling.why for ruling in rulings}) <= 2


def test_signals_are_left_alone(workers: Workers) -> None:
    numbers = [signal.SIGALRM, signal.SIGPROF, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD]
    before = [signal.getsignal(number) for number in numbers]
    with pytest.raises(Undecided):
        workers.judge("spin", "x")
    assert [signal.getsignal(number) for number in numbers] == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)


def test_workers_end_with_the_pool() -> None:
    with Workers(1, ("-c", PROGRAM_workers)) as pool:
        pid = int(pool.judge("a", "b").why)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_worker_ends_when_its_parent_is_gone() -> None:
    pool = Workers(1, ("-c", PROGRAM_workers))
    pid = int(pool.judge("a", "b").why)
    ended = threading.Thread(target=os.waitpid, args=(pid, 0))
    pool._idle[0]._requests.close()  # pyright: ignore[reportPrivateUsage]
    ended.start()
    ended.join(timeout=20)
    assert not ended.is_alive()
    pool.close()


def test_a_process_with_thousands_of_open_files_is_judged_in_all_the_same() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limits[1] < 2_000:
        pytest.skip("no more than 2,000 files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(2_000, limits[0]), limits[1]))
    many = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    try:
        with Workers(1, ("-c", PROGRAM_workers)) as pool:
            assert pool.judge("same", "same").same
    finally:
        for one in many:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
