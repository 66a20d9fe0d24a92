"""A client whose TLS 1.3 records hold nothing: argument PORT; prints whether all of 32 MB were read."""

import hashlib
import hmac
import os
import socket
import ssl
import struct
import sys
import tempfile

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20)
for line in (b"", b"EHLO c.test\r\n", b"STARTTLS\r\n"):
    plain.sendall(line)
    plain.recv(4096)

context = ssl._create_unverified_context()
context.minimum_version = ssl.TLSVersion.TLSv1_3
handle, secrets = tempfile.mkstemp()
os.close(handle)
context.keylog_filename = secrets
came, going = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = context.wrap_bio(came, going)
while True:
    try:
        tls.do_handshake()
        plain.sendall(going.read())
        break
    except ssl.SSLWantReadError:
        plain.sendall(going.read())
        came.write(plain.recv(65536))
with open(secrets) as lines:
    secret = next(x.split()[2] for x in lines if x.startswith("CLIENT_TRAFFIC_SECRET_0"))
os.remove(secrets)

name, _, bits = tls.cipher()
digest = hashlib.sha384 if name.endswith("384") else hashlib.sha256


def expand(label: bytes, size: int) -> bytes:
    """RFC 8446, section 7.1; one block is enough."""
    info = struct.pack(">HB", size, len(label) + 6) + b"tls13 " + label + b"\0\1"
    return hmac.new(bytes.fromhex(secret), info, digest).digest()[:size]


cipher = (ChaCha20Poly1305 if "CHACHA" in name else AESGCM)(expand(b"key", bits // 8))
start = int.from_bytes(expand(b"iv", 12), "big")
padding = b"\x17" + bytes(16_000)
header = b"\x17\x03\x03" + struct.pack(">H", len(padding) + 16)
try:
    for number in range(2_000):
        nonce = (start ^ number).to_bytes(12, "big")
        plain.sendall(header + cipher.encrypt(nonce, padding, header))
    print("read")
except OSError:
    print("ended")
