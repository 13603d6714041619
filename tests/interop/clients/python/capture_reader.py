"""capture_reader DIRECTORY: reads all files of capture with two Avro libraries, which must agree, and prints them as JSON.

One object for each file, in the order of their names: its path below the directory, its events, and the schema in it. Bytes are
shown as hexadecimal."""

import json
import pathlib
import sys

import avro.datafile
import avro.io
import fastavro


def plain(value):
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


directory = pathlib.Path(sys.argv[1])
files = []
for path in sorted(directory.rglob("*.avro")):
    with open(path, "rb") as file:
        reader = fastavro.reader(file)
        fast = [plain(event) for event in reader]
        schema = reader.metadata["avro.schema"]
    with avro.datafile.DataFileReader(open(path, "rb"), avro.io.DatumReader()) as other:
        slow = [plain(event) for event in other]
    assert fast == slow, path
    files.append({"path": str(path.relative_to(directory)), "schema": json.loads(schema), "events": fast})
print(json.dumps(files))
