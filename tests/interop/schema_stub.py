"""A schema registry of forty lines, as far as the tools ask one: schemas by id, the newest of a subject, and new ones."""

import http.server
import json
import threading
import urllib.parse


class SchemaStub:
    """with SchemaStub() as registry: registry.url, registry.add(subject, schema, kind). `login` is asked for where it is given."""

    def __init__(self, authorization=None):
        self.authorization = authorization
        self.schemas, self.subjects, self.asked = {}, {}, []
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                stub.answer(self, None)

            def do_POST(self):
                stub.answer(self, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/registry/v1/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def add(self, subject, schema, kind=None, references=None):
        for number, known in self.schemas.items():
            if known["schema"] == schema:
                break
        else:
            number = len(self.schemas) + 1
            self.schemas[number] = {"schema": schema, **({"schemaType": kind} if kind else {}),
                                    **({"references": references} if references else {})}
        self.subjects[subject] = number
        return number

    def answer(self, request, body):
        self.asked.append(request.path)
        status, answer = 404, {"error_code": 40403, "message": "Schema not found"}
        parts = [urllib.parse.unquote(part) for part in request.path.split("/")[3:]]
        if self.authorization and request.headers.get("Authorization") != self.authorization:
            status, answer = 401, {"message": "Unauthorized"}
        elif parts[:2] == ["schemas", "ids"] and int(parts[2]) in self.schemas:
            status, answer = 200, self.schemas[int(parts[2])]
        elif parts[0] == "subjects" and body is not None and parts[2:] == ["versions"]:
            status, answer = 200, {"id": self.add(parts[1], body["schema"], body.get("schemaType"), body.get("references"))}
        elif parts[0] == "subjects" and parts[1] in self.subjects:
            number = self.subjects[parts[1]]
            status, answer = 200, {"id": number, "version": 1, "subject": parts[1], **self.schemas[number]}
        text = json.dumps(answer).encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)
