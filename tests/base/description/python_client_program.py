"""Generates a client from a relay's description and uses it: python_client_program.py URL FOLDER.

Prints one line of JSON.
"""

import base64
import hashlib
import json
import sys
import time
import urllib.request
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from openapi_python_client import generate
from openapi_python_client.config import Config, ConfigFile, MetaType

LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
url, folder = sys.argv[1], Path(sys.argv[2])

document = folder / "openapi.json"
document.write_bytes(urllib.request.urlopen(f"{url}/openapi.json").read())
settings = ConfigFile(post_hooks=[])
warnings = generate(config=Config.from_sources(
    settings, MetaType.NONE, document, "utf-8", False, folder / "relay_client",
))

sys.path.insert(0, str(folder))
from relay_client import Client  # noqa: E402
from relay_client.api.identity import register, resolve_agent, update_profile  # noqa: E402
from relay_client.api.messages import read_inbox, send_message  # noqa: E402
from relay_client.api.service import read_health, read_limits  # noqa: E402
from relay_client.models import ProfileUpdate, RegisterRequest, SendRequest  # noqa: E402

key = Ed25519PrivateKey.from_private_bytes(b"\x06" * 32)


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, text = number // 58, LETTERS[number % 58] + text
    return text


def sign(request):
    path, moment = request.url.raw_path.decode().split("?")[0], int(time.time())
    text = f"relay:v1:{request.method}:{path}:{hashlib.sha256(request.content).hexdigest()}:{moment}"
    request.headers["X-Relay-Pubkey"] = address
    request.headers["X-Relay-Timestamp"] = str(moment)
    request.headers["X-Relay-Signature"] = base64.b64encode(key.sign(text.encode())).decode()


address = base58(key.public_key().public_bytes_raw())
client = Client(base_url=url, httpx_args={"event_hooks": {"request": [sign]}})
registered = register.sync(client=client, body=RegisterRequest(handle="generated", pubkey=address))
sent = send_message.sync(
    client=client, body=SendRequest(to="@generated", body={"text": "from a generated client"}),
)
refused = send_message.sync_detailed(client=client, body=SendRequest(to="nobody_here", body=None))
profile = update_profile.sync(client=client, body=ProfileUpdate(tags=["a-b"]))
page = read_inbox.sync(client=client, since_id=0, limit=10)
print(json.dumps({
    "warnings": [f"{one.header}: {one.detail}" for one in warnings],
    "health": read_health.sync(client=Client(base_url=url)).ok,
    "window": read_limits.sync(client=client).limits.signature_window_seconds,
    "token": registered.owner_token,
    "sent": sent.id,
    "refused": [refused.status_code, refused.parsed.error.code],
    "tags": profile.tags,
    "received": [[one.id, one.body, one.from_handle, one.in_reply_to] for one in page.messages],
    "seen": resolve_agent.sync("generated", client=client).last_seen_at is not None,
}))
