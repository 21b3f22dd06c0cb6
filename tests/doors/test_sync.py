"""Synchronizers really exclude: threads, processes, and forked children of holders."""

import os
import pickle
import subprocess
import sys
import threading
import time

import pytest
from waiting import PATIENCE_S, until
from zarrix.sync import ProcessSynchronizer, ThreadSynchronizer

WORK = """
import pathlib, sys
from zarrix.sync import ProcessSynchronizer
sync, counter = ProcessSynchronizer(sys.argv[1]), pathlib.Path(sys.argv[2])
for _ in range(100):
    with sync["foo/0.0"]:
        counter.write_text(str(int(counter.read_text()) + 1))
"""


def test_processes_and_threads_lose_no_update(tmp_path):
    counter = tmp_path / "counter"
    counter.write_text("0")
    locks = tmp_path / "locks"
    children = [
        subprocess.Popen([sys.executable, "-c", WORK, str(locks), str(counter)]) for _ in range(3)
    ]

    def work():
        sync = ProcessSynchronizer(locks)
        for _ in range(50):
            with sync["foo/0.0"]:
                counter.write_text(str(int(counter.read_text()) + 1))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [child.wait() for child in children] == [0, 0, 0]
    assert counter.read_text() == "400"


def test_different_keys_do_not_wait_for_each_other(tmp_path):
    sync = ProcessSynchronizer(tmp_path)
    with sync["a/0"], sync["a/1"]:
        assert sorted(os.listdir(tmp_path / "a")) == ["0", "1"]


def test_a_lock_is_given_up_after_an_error_and_can_be_taken_again(tmp_path):
    sync = ProcessSynchronizer(tmp_path)
    with pytest.raises(KeyError), sync["k"]:
        raise KeyError
    with sync["k"]:
        pass
    with pytest.raises(RuntimeError, match="is not held"):
        sync["k"].release()


def test_a_child_forked_while_a_lock_is_held_neither_has_it_nor_keeps_it(tmp_path):
    sync = ProcessSynchronizer(tmp_path)
    done = tmp_path / "done"
    with sync["k"]:
        child = os.fork()
        if child == 0:
            with sync["k"]:
                done.write_text("1")
            time.sleep(PATIENCE_S)
            os._exit(0)
        time.sleep(0.2)
        assert not done.exists()
    until(lambda: done.exists() and done.read_text() == "1")
    with sync["k"]:
        os.kill(child, 9)
    os.waitpid(child, 0)


def test_a_path_outside_the_directory_is_refused(tmp_path):
    with pytest.raises(ValueError, match="segment"):
        ProcessSynchronizer(tmp_path)["../x"]


def test_threads_have_one_lock_for_each_key():
    sync = ThreadSynchronizer()
    assert sync["a"] is sync["a"]
    assert sync["a"] is not sync["b"]


@pytest.mark.parametrize("kind", ["thread", "process"])
def test_synchronizers_pickle(kind, tmp_path):
    sync = ThreadSynchronizer() if kind == "thread" else ProcessSynchronizer(tmp_path)
    with sync["a"]:
        copy = pickle.loads(pickle.dumps(sync))
    assert type(copy) is type(sync)
    with copy["a"]:
        assert getattr(copy, "path", None) == getattr(sync, "path", None)
