"""As much of Docker's HTTP API as Testcontainers uses to start one container, so that the libraries themselves can be run where there is
no container daemon: images are all the one that scripts/package made, containers are image.Container.

A published port is one that the kernel chooses, with a relay behind it: clients must use the address that the broker advertises.
"""

import contextlib
import http.server
import io
import json
import os
import re
import socket
import socketserver
import struct
import sys
import tarfile
import threading
import time
import urllib.parse
import uuid

from image import Container

POLL_S = 0.02
API_VERSION = "1.44"


class Relay(threading.Thread):
    """Connections to a port that the kernel chose go to another one."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.target = port
        self.listener = socket.create_server(("0.0.0.0", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            threading.Thread(target=self.carry, args=(near, far), daemon=True).start()

    def carry(self, near, far):
        """Moves bytes both ways until both ends have ended."""
        with near, far:
            back = threading.Thread(target=self.copy, args=(far, near), daemon=True)
            back.start()
            self.copy(near, far)
            back.join()

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # The other direction learns of it.
            for end in (source, target):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)


class Made:
    """A container with what the API tells of it."""

    def __init__(self, image, name, request):
        self.id = uuid.uuid4().hex * 2
        self.name = name or self.id[:12]
        self.request = request
        self.ports = {}
        self.container = Container(image, command=request.get("Cmd"), entrypoint=request.get("Entrypoint"),
                                   environment=request.get("Env") or (), user=request.get("User") or None, host_name=self.id[:12])

    def start(self):
        exposed = {**(self.request.get("ExposedPorts") or {}), **((self.request.get("HostConfig") or {}).get("PortBindings") or {})}
        self.ports = {port: Relay(int(port.split("/")[0])) for port in exposed}
        self.container.start()

    def describe(self):
        running = self.container.process is not None and self.container.exit_code() is None
        ports = {port: [{"HostIp": "0.0.0.0", "HostPort": str(relay.port)}] for port, relay in self.ports.items()}
        return {"Id": self.id, "Name": "/" + self.name, "Created": "2026-01-01T00:00:00Z", "Image": "sha256:" + self.id, "Path": "", "Args": [],
                "State": {"Status": "running" if running else "exited", "Running": running, "Paused": False, "Dead": False, "Restarting": False,
                          "OOMKilled": False, "Pid": self.container.process.pid if running else 0, "Error": "",
                          "ExitCode": self.container.exit_code() or 0, "StartedAt": "2026-01-01T00:00:00Z", "FinishedAt": "0001-01-01T00:00:00Z"},
                "Config": {**self.request, "Hostname": self.container.host_name, "Env": self.container.environment,
                           "Labels": self.request.get("Labels") or {}, "Image": self.request["Image"]},
                "HostConfig": {"NetworkMode": "bridge", **(self.request.get("HostConfig") or {})}, "Mounts": [],
                "NetworkSettings": {"Ports": ports, "IPAddress": "127.0.0.1", "Gateway": "127.0.0.1",
                                    "Networks": {"bridge": {"IPAddress": "127.0.0.1", "Gateway": "127.0.0.1", "NetworkID": "bridge",
                                                            "Aliases": [], "EndpointID": "1"}}}}

    def end(self):
        for relay in self.ports.values():
            relay.listener.close()
        self.container.remove()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "unix"

    def log_message(self, text, *values):
        self.server.asked.append(text % values)

    def answer(self, value, status=200, content_type="application/json"):
        body = b"" if value is None else value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Api-Version", API_VERSION)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def handle_any(self):
        address = urllib.parse.urlsplit(self.path)
        path = re.sub(r"^/v[0-9.]+/", "/", address.path)
        query = dict(urllib.parse.parse_qsl(address.query))
        body = self.body()
        for method, pattern, action in ROUTES:
            match = re.fullmatch(pattern, path)
            if match and self.command == method:
                values = [urllib.parse.unquote(value) for value in match.groups()]
                if path.startswith("/containers/") and values:
                    found = [made for made in self.server.made.values() if made.id.startswith(values[0]) or made.name == values[0]]
                    if not found:
                        return self.answer({"message": f"no such container: {values[0]}"}, 404)
                    values[0] = found[0]
                return action(self, query, body, *values)
        self.server.unknown.append(f"{self.command} {self.path}")
        return self.answer({"message": f"not here: {self.command} {path}"}, 501)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any

    def create(self, query, body):
        request = json.loads(body)
        for list_or_text in ("Cmd", "Entrypoint"):
            if isinstance(request.get(list_or_text), str):
                request[list_or_text] = [request[list_or_text]]
        made = Made(self.server.image, query.get("name"), request)
        self.server.made[made.id] = made
        self.answer({"Id": made.id, "Warnings": []}, 201)

    def list_containers(self, query, _body):
        wanted = json.loads(query.get("filters", "{}")).get("id")
        told = [made.describe() for made in self.server.made.values() if not wanted or made.id in wanted]
        self.answer([{"Id": one["Id"], "Names": [one["Name"]], "Image": one["Config"]["Image"], "ImageID": one["Image"], "Command": "", "Created": 0,
                      "Ports": [], "Labels": one["Config"]["Labels"], "State": one["State"]["Status"], "Status": "", "Mounts": [],
                      "HostConfig": {"NetworkMode": "bridge"}, "NetworkSettings": {"Networks": one["NetworkSettings"]["Networks"]}}
                     for one in told])

    def start_container(self, _query, _body, made):
        made.start()
        self.answer(None, 204)

    def stop_container(self, query, _body, made):
        made.container.stop(int(query.get("t", 10)))
        self.answer(None, 204)

    def kill_container(self, _query, _body, made):
        made.container.stop(0)
        self.answer(None, 204)

    def end(self, _query, _body, made):
        made.end()
        del self.server.made[made.id]
        self.answer(None, 204)

    def put(self, query, body, made):
        with tarfile.open(fileobj=io.BytesIO(body)) as archive:
            made.container.put(archive, query["path"])
        self.answer(None)

    def logs(self, query, _body, made):
        """Frames of standard output. With `follow` until the container ends."""
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.docker.multiplexed-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        follow = query.get("follow") in ("1", "true", "True")
        try:
            with open(made.container.log_file, "rb") as log:
                while True:
                    ended = made.container.process is None or made.container.exit_code() is not None
                    if data := log.read(32768):
                        frame = struct.pack(">BxxxI", 1, len(data)) + data
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))
                        self.wfile.flush()
                    elif not follow or ended:
                        break
                    else:
                        time.sleep(POLL_S)
            self.wfile.write(b"0\r\n\r\n")
        except (OSError, ValueError):
            self.close_connection = True

    def make_exec(self, _query, body, made):
        name = uuid.uuid4().hex
        self.server.execs[name] = [made, json.loads(body)["Cmd"], None]
        self.answer({"Id": name}, 201)

    def start_exec(self, _query, _body, name):
        """Runs the command, and gives its output over what was the connection of the request."""
        made, command, _ = self.server.execs[name]
        done = made.container.run(*command)
        self.server.execs[name][2] = done.returncode
        upgrade = self.headers.get("Upgrade")
        self.send_response(101 if upgrade else 200)
        self.send_header("Content-Type", "application/vnd.docker.raw-stream")
        if upgrade:
            self.send_header("Connection", "Upgrade")
            self.send_header("Upgrade", upgrade)
        self.end_headers()
        output = (done.stdout + done.stderr).encode()
        self.wfile.write(struct.pack(">BxxxI", 1, len(output)) + output)
        self.close_connection = True

    def describe_exec(self, _query, _body, name):
        self.answer({"ID": name, "Running": False, "ExitCode": self.server.execs[name][2]})


def says(value, status=200, content_type="application/json"):
    return lambda handler, _query, _body, *_found: handler.answer(value, status, content_type)


IMAGE = {"Id": "sha256:" + "0" * 64, "RepoTags": ["partita:test"], "RepoDigests": [], "Os": "linux", "Architecture": "amd64", "Size": 1,
         "Created": "2026-01-01T00:00:00Z", "Config": {"ExposedPorts": {}, "Env": [], "Labels": {}}, "RootFS": {"Type": "layers", "Layers": []}}
NETWORK = {"Name": "bridge", "Id": "bridge", "Driver": "bridge", "Scope": "local", "Internal": False, "Labels": {}, "Containers": {}, "Options": {},
           "IPAM": {"Driver": "default", "Config": [{"Subnet": "127.0.0.0/8", "Gateway": "127.0.0.1"}]}}
ROUTES = [
    ("GET", "/_ping", says(b"OK", content_type="text/plain")),
    ("HEAD", "/_ping", says(b"", content_type="text/plain")),
    ("GET", "/version", says({"Version": "25.0.0", "ApiVersion": API_VERSION, "MinAPIVersion": "1.24", "Os": "linux", "Arch": "amd64"})),
    ("GET", "/info", says({"ServerVersion": "25.0.0", "OperatingSystem": "none", "OSType": "linux", "Architecture": "x86_64", "MemTotal": 1 << 34,
                           "NCPU": 2, "Name": "none", "ID": "none", "Labels": [], "RegistryConfig": {"IndexConfigs": {}}})),
    ("GET", "/images/(.+)/json", says(IMAGE)),
    ("GET", "/images/json", says([{**IMAGE, "Created": 0}])),
    ("POST", "/images/create", says({"status": "there"})),
    ("POST", "/(?:containers|images|networks|volumes)/prune", says({})),
    ("GET", "/networks", says([NETWORK])),
    ("GET", "/networks/(.+)", says(NETWORK)),
    ("GET", "/containers/json", Handler.list_containers),
    ("POST", "/containers/create", Handler.create),
    ("POST", "/containers/([^/]+)/start", Handler.start_container),
    ("GET", "/containers/([^/]+)/json", lambda handler, _query, _body, made: handler.answer(made.describe())),
    ("GET", "/containers/([^/]+)/logs", Handler.logs),
    ("POST", "/containers/([^/]+)/exec", Handler.make_exec),
    ("POST", "/exec/([^/]+)/start", Handler.start_exec),
    ("GET", "/exec/([^/]+)/json", Handler.describe_exec),
    ("PUT", "/containers/([^/]+)/archive", Handler.put),
    ("POST", "/containers/([^/]+)/stop", Handler.stop_container),
    ("POST", "/containers/([^/]+)/kill", Handler.kill_container),
    ("DELETE", "/containers/([^/]+)", Handler.end),
]


class Daemon(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Listens at a socket until `close`."""

    daemon_threads = True

    def __init__(self, path, image):
        self.image, self.made, self.execs, self.asked, self.unknown = image, {}, {}, [], []
        super().__init__(path, Handler)
        os.chmod(path, 0o666)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        # A library that has ended reads no answer.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def close(self):
        self.shutdown()
        self.server_close()
        for made in list(self.made.values()):
            made.end()
        self.made.clear()
