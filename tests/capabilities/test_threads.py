"""A binding holds in every thread, and no thread is disturbed by it."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import sys
import threading
from pathlib import Path

from side_by_side import TwoLayers, assert_close, run
from workers import gradients

import mindspore_tanhbw as tbw


def in_a_thread(function):
    """Its result, or what it raised."""
    results = []

    def work():
        try:
            results.append(function())
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


def test_bound_and_used_in_a_thread(mode, binding):
    own, none = in_a_thread(lambda: run(TwoLayers, gradients))
    ours, launches = in_a_thread(lambda: run(TwoLayers, gradients, binding))
    assert (none, launches) == (0, 1)
    assert_close(ours, own)


def test_bound_here_and_used_in_a_thread(same_as_unbound):
    same_as_unbound(TwoLayers, lambda net: in_a_thread(lambda: gradients(net)), 1)


def test_bound_in_a_thread_and_used_here(mode):
    net = TwoLayers()
    in_a_thread(tbw.bind)
    try:
        assert tbw.is_bound()
        assert run(lambda: net, gradients)[1] == 1
    finally:
        in_a_thread(tbw.unbind)
    assert run(TwoLayers, gradients)[1] == 0


def test_binding_while_other_threads_make_networks():
    """MindSpore keeps a list of all Cells, which grows and shrinks meanwhile."""
    interval, done = sys.getswitchinterval(), threading.Event()
    made = []

    def make():
        while not done.is_set():
            made.append(len([TwoLayers() for _ in range(10)]))

    kept = [TwoLayers() for _ in range(1000)]
    threads = [threading.Thread(target=make) for _ in range(2)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for _ in range(100):
            with tbw.bound():
                assert tbw.is_bound()
            with tbw.bound(kept[0]) as report:
                assert int(report) == 1
    finally:
        done.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert sum(made) > 10 and not tbw.is_bound()


SWITCHING = """
import contextlib, sys, threading, time
sys.path.insert(0, {folder!r})
import mindspore as ms, mindspore_tanhbw as tbw
from side_by_side import TwoLayers, assert_close, run
from workers import gradients
ms.set_context(mode=ms.{mode}_MODE)
expected, _ = run(TwoLayers, gradients)
done, rounds = threading.Event(), []
# Graph mode does not take a binding while it compiles.
graph = {mode!r} == "GRAPH"
lock = threading.Lock() if graph else contextlib.nullcontext()

def switch():
    while not done.is_set():
        with lock, tbw.bound():
            rounds.append(tbw.is_bound())
        if graph: time.sleep(0.001)  # or this thread would nearly always have the lock

switching = threading.Thread(target=switch)
switching.start()
try:
    for _ in range(20):
        with lock:
            result, _ = run(TwoLayers, gradients)
        assert_close(result, expected)
finally:
    alive = switching.is_alive()
    done.set()
    switching.join()
assert alive and len(rounds) > 1 and all(rounds)
"""


def test_binding_while_another_thread_trains(mode, run_python):
    """Each gradient is right, whichever side of the binding it falls on. In a process of its own: it may crash."""
    run_python(SWITCHING.format(folder=str(Path(__file__).parent), mode=mode.upper()))
