"""The benchmark that lets parts fail: its schedules, its network and its queue."""

import random
import socket
import threading
from types import SimpleNamespace

import pytest

from benchmarks.broken_parts import EARLIER, LATEST, Network, Queue
from benchmarks.fault_types import CALLS, FAULTS
from benchmarks.faults import FAULTS_OF_A_RUN, Run
from benchmarks.fragile import PROCESSES
from benchmarks.lean_browser import ask


def schedule_of(seed):
    """The names of the faults of a seed, in the parts of its run, with everything installed."""
    whole = SimpleNamespace(postgresql=object(), redis=object())
    disk = SimpleNamespace(can_be_filled=True)
    fragile = SimpleNamespace(whole=whole, processes=PROCESSES, disk=disk)
    return [[fault.name for fault in part] for part in Run(fragile, seed).schedule()]


def test_a_seed_draws_the_same_faults_again_and_another_seed_others():
    assert schedule_of(7) == schedule_of(7)
    assert schedule_of(7) != schedule_of(8)


def test_some_seeds_have_faults_before_and_after_the_work_and_all_have_as_many():
    schedules = [schedule_of(seed) for seed in range(40)]

    assert {sum(map(len, each)) for each in schedules} == {FAULTS_OF_A_RUN}
    assert any(first for first, _, _ in schedules)
    assert any(last for _, _, last in schedules)
    drawn = {name for each in schedules for part in each for name in part}
    assert drawn == {fault.name for fault in FAULTS}


def test_faults_that_need_people_at_work_happen_then():
    at_work = {fault.name for fault in FAULTS if fault.needs_work}

    for seed in range(40):
        first, _, last = schedule_of(seed)
        assert not at_work & {*first, *last}


def test_faults_that_need_a_hit_come_first_at_work():
    for seed in range(40):
        _, middle, _ = schedule_of(seed)
        names = [fault.name for fault in FAULTS if fault.needs_hit and fault.name in middle]
        assert sorted(middle[: len(names)]) == sorted(names)


def test_every_kind_of_a_calls_fault_has_words():
    assert set(CALLS) <= {fault.name for fault in FAULTS}


@pytest.fixture
def network():
    network = Network()
    yield network
    network.close()


def answer_once(server):
    """Send a byte over the first connection, and wait for its end."""
    with server.accept()[0] as connection:
        connection.sendall(b"x")
        connection.recv(1)


def test_the_network_says_how_many_connections_it_cut(network):
    with socket.create_server(("127.0.0.1", 0)) as server:
        network.target = server.getsockname()[1]
        assert network.cut() == 0
        answering = threading.Thread(target=answer_once, args=(server,))
        answering.start()
        with socket.create_connection(("127.0.0.1", network.port)) as client:
            client.recv(1)

            assert network.cut() == 1
            assert client.recv(1) == b""
        answering.join()


def reply_once(server, reply):
    with server.accept()[0] as connection:
        connection.recv(100)
        connection.sendall(reply)
        connection.recv(100)


@pytest.mark.parametrize(
    ("header", "arrives"), [("x-amzn-RequestId: 1", b"not JSON"), ("Date: today", b"the reply")]
)
def test_rubbish_comes_in_place_of_a_reply_of_the_api_alone(network, header, arrives):
    with socket.create_server(("127.0.0.1", 0)) as server:
        network.target = server.getsockname()[1]
        network.rubbish = [b"not JSON"]
        reply = f"HTTP/1.1 200 OK\r\n{header}\r\nContent-Length: 9\r\n\r\nthe reply".encode()
        answering = threading.Thread(target=reply_once, args=(server, reply))
        answering.start()

        answer = ask("GET", network.url)

        assert answer.text == arrives.decode()
        network.cut()
        answering.join()


@pytest.fixture
def queue():
    queue = Queue()
    yield queue
    queue.close()


def read_and_delete(queue):
    """The bodies of the messages in the queue, which is empty then."""
    found = queue.client.receive_message(QueueUrl=queue.url, MaxNumberOfMessages=10)
    for message in found.get("Messages", []):
        queue.client.delete_message(QueueUrl=queue.url, ReceiptHandle=message["ReceiptHandle"])
    return [message["Body"] for message in found.get("Messages", [])]


def test_messages_are_repeated_also_when_they_were_read_and_deleted(queue):
    rng = random.Random(1)
    bodies = [f"event {number}" for number in range(3)]
    for body in bodies:
        queue.client.send_message(QueueUrl=queue.url, MessageBody=body)
    assert sorted(read_and_delete(queue)) == bodies

    for _ in range(2):
        assert queue.repeat(rng) == 3
        assert sorted(read_and_delete(queue)) == bodies


def test_earlier_messages_come_again_beside_the_latest_ones(queue):
    for number in range(LATEST + EARLIER + 5):
        queue.client.send_message(QueueUrl=queue.url, MessageBody=f"event {number}")

    assert queue.repeat(random.Random(1)) == LATEST + EARLIER
