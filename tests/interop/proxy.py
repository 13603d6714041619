"""A proxy between clients and the broker, which sees each request and can keep some of them back: so a test stops a client at a request."""

import contextlib
import socket
import struct
import threading

import harness

INIT_PRODUCER_ID, END_TXN, DESCRIBE_PRODUCERS, LIST_TRANSACTIONS = 22, 26, 61, 66
#: From these versions on headers and strings of the requests that begin with a transactional id are flexible.
FLEXIBLE = {INIT_PRODUCER_ID: 2, END_TXN: 3}


def compact_string(data, offset):
    """What stands there, and the offset behind it."""
    length, shift = 0, 0
    while True:
        byte = data[offset]
        offset += 1
        length |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            break
    return (data[offset:offset + length - 1].decode() if length else None), offset + max(length - 1, 0)


def transactional_id(frame):
    """The one that a request of FLEXIBLE begins with; None for others."""
    api, version = struct.unpack_from(">hh", frame)
    if api not in FLEXIBLE:
        return None
    assert version >= FLEXIBLE[api], f"the client is too old: version {version} of API {api}"
    client_id_length, = struct.unpack_from(">h", frame, 8)
    behind_client_id = 10 + max(client_id_length, 0)
    assert frame[behind_client_id] == 0, "tagged fields in the header"
    return compact_string(frame, behind_client_id + 1)[0]


class Proxy:
    """Listens at `address`, which the broker advertises, and forwards to `target`, which may go and come back."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", harness.free_port()))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.target = None
        self.changed = threading.Condition()
        #: Under `changed`: each request that was forwarded or is held, as (API, transactional id or None); the API to hold; what is held.
        self.requests = []
        self.held_api = None
        self.held = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # It is closed.
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError), socket.create_connection(self.target) as broker:
            for one in (client, broker):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._answer, args=(broker, client), daemon=True).start()
            with client.makefile("rb") as requests:
                while len(size := requests.read(4)) == 4:
                    frame = requests.read(*struct.unpack(">i", size))
                    if not self._let_pass(frame):
                        break
                    broker.sendall(size + frame)
            broker.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def _answer(broker, client):
        with contextlib.suppress(OSError):
            while data := broker.recv(65536):
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)

    def _let_pass(self, frame):
        """Whether to forward it, after a while if it is one of those to be held."""
        request = struct.unpack_from(">h", frame)[0], transactional_id(frame)
        with self.changed:
            self.requests.append(request)
            if request[0] != self.held_api:
                return True
            self.held.append(request[1])
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.held_api is None)
            return False

    @contextlib.contextmanager
    def holding(self, api):
        """Requests of the API are held; at the end they are lost, and their connections with them."""
        with self.changed:
            self.held_api = api
        try:
            yield
        finally:
            with self.changed:
                self.held_api, self.held = None, []
                self.changed.notify_all()

    def wait_for_held(self, seconds):
        """Returns the transactional ids of what is held, as soon as there is something."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.held, seconds), f"nothing was held within {seconds} s"
            return set(self.held)

    def seen(self, since=0):
        with self.changed:
            return self.requests[since:]
