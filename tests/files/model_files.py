"""What a model file is made of, for tests that change it."""

import hashlib
import json
import struct


def parts(content):
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(header, body, *, sign=True):
    if sign:
        meta = header["__metadata__"]
        meta["sha256"] = hashlib.sha256(meta["model"].encode() + body).hexdigest()
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + body
