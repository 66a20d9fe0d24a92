"""An agent over `cryptography` alone (pip install cryptography): python relay.py HANDLE [TO TEXT]
RELAY_PRIVATE_KEY_HEX: a secret, openssl rand -hex 32. RELAY_PINNED: addresses you trust."""
import base64, hashlib, json, os, re, sys, time, urllib.request, cryptography.exceptions
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
RELAY, PINNED = "http://127.0.0.1:8000", os.environ.get("RELAY_PINNED", "").split()
KEY = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(os.environ["RELAY_PRIVATE_KEY_HEX"]))
LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
FORM = "(relay:v1:POST:/v1/messages:([0-9a-f]{64}):(0|[1-9][0-9]{0,14})) [A-Za-z0-9+/]{85}[AQgw]=="
sha256, used = lambda data: hashlib.sha256(data).hexdigest(), {}
unique = lambda members: dict(one for _, one in zip(dict(members), members, strict=True))
def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number: number, text = number // 58, LETTERS[number % 58] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text
ADDRESS = base58(KEY.public_key().public_bytes_raw())
def canonical(value):  # RFC 8785; json.dumps sorts names otherwise and writes 1.0, 1e-05 and 1e+16
    if isinstance(value, list): return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(one)}" for name, one in members) + "}"
    if type(value) not in (int, float): return json.dumps(value, ensure_ascii=False)
    if value == 0 or 1e-4 <= abs(value) < 2**53: return str(value or 0).removesuffix(".0")
    raise ValueError(f"{value}: so small or large a number is refused here; send it as a string")
def call(method, path, query="", body=None):  # equal requests of one second would be one request
    data = b"" if body is None else canonical(body).encode()
    text = f"relay:v1:{method}:{path}:{sha256(data)}:"
    used[text] = seconds = max(int(time.time()), used.get(text, 0) + 1)
    proof = base64.b64encode(KEY.sign(f"{text}{seconds}".encode())).decode()
    headers = {"X-Relay-Pubkey": ADDRESS, "X-Relay-Timestamp": seconds, "X-Relay-Signature": proof}
    request = urllib.request.Request(RELAY + path + query, data or None, headers, method=method)
    try: return urllib.request.urlopen(request, timeout=60).read()
    except urllib.error.HTTPError as refusal: return refusal.read()
def overall(message, request, handle):  # of what is not "proven", believe neither sender nor body
    try:
        if sha256(canonical(message["body"]).encode()) != message["content_hash"]: return "false"
        number = sum(LETTERS.find(c) * 58**n for n, c in enumerate(message["from"][43::-1]))
        key = Ed25519PublicKey.from_public_bytes((number % 2**256).to_bytes(32, "big"))
        y = int.from_bytes(key.public_bytes_raw(), "little") % 2**255  # small order: anybody signs
        weak = y * (y**2 - 1) * (121665 * y**4 - 243332 * y**2 + 121666) % (2**255 - 19) == 0
        signed = re.fullmatch(FORM, message["canonical_string"] + " " + message["signature"])
        if weak or not signed: return "false"
        key.verify(base64.b64decode(message["signature"]), signed[1].encode())
        parts = json.loads(request.decode(), object_pairs_hook=unique)
        kind, body = parts.get("content_type") or "text", parts["body"]
        if kind == "json": body = json.loads(body, object_pairs_hook=unique)
        asked = {"body": body, "in_reply_to": parts.get("in_reply_to"), "content_type": kind}
        is_same = canonical(asked) == canonical({name: message[name] for name in asked})
        is_signed = sha256(request) == signed[2] and parts["to"] in (ADDRESS, handle, "@" + handle)
    except cryptography.exceptions.InvalidSignature: return "false"
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError): return "open"
    return "proven" if is_same and is_signed and message["from"] in PINNED else "open"
if __name__ == "__main__":
    (_, handle, *wish), since = sys.argv, 0
    print(call("POST", "/v1/register", body={"handle": handle, "pubkey": ADDRESS}).decode())
    if wish: print(call("POST", "/v1/messages", body={"to": wish[0], "body": {"text": wish[1]}}))
    while not time.sleep(2):
        for one in json.loads(call("GET", "/v1/inbox", f"?since_id={since}&wait=25"))["messages"]:
            since = one["id"]
            said = overall(one, call("GET", f"/v1/messages/{since}/signed-request"), handle)
            print(one["id"], said, *[one["from"], ascii(one["body"])] if said == "proven" else [])
