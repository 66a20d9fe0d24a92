"""Receives a relay's webhook with Python alone, and prints what is new: python webhook.py
RELAY_WEBHOOK_SECRET: what the relay showed when the webhook was made, rmwh_..."""
import base64, hashlib, hmac, http.server, json, os, re, sys, time

MAX_BYTES = 1024 * 1024  # an event has at most 96 KiB
TOLERANCE_SECONDS = 300
DONE = set()  # of a program that lasts: in its database


class Refused(Exception):
    pass


def verify(secret, headers, body, now):
    """The event of a delivery (Standard Webhooks): headers has get(), body is the raw bytes."""
    key = base64.b64decode(re.sub("^(rmwh_|whsec_)", "", secret), validate=True)
    if len(key) < 24: raise ValueError("the secret must be base64 of at least 24 bytes")
    name, sent, given = (headers.get("webhook-" + of) for of in ("id", "timestamp", "signature"))
    if not (name and sent and given): raise Refused("missing_header")
    if not re.fullmatch("[0-9]{1,12}", sent): raise Refused("bad_timestamp")
    if abs(now - int(sent)) > TOLERANCE_SECONDS: raise Refused("too old or too new")
    signed = f"{name}.{sent}.".encode() + body
    right = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # While a secret is rotated there are two signatures; those of other versions never match.
    matches = [hmac.compare_digest(one.encode(), right) for one in re.split(",? +", given)]
    if not any(matches): raise Refused("no_match")
    return json.loads(body)


class Receiver(http.server.BaseHTTPRequestHandler):
    timeout = 15  # seconds that a client may leave us waiting

    def do_POST(self):
        size = self.headers.get("content-length", "")
        if not re.fullmatch("[0-9]{1,7}", size) or int(size) > MAX_BYTES: return self.answer(413)
        try:
            event = verify(SECRET, self.headers, self.rfile.read(int(size)), time.time())
        except Refused as why:
            print(why, file=sys.stderr, flush=True)
            return self.answer(401)
        if event["id"] not in DONE:  # a delivery is repeated until it is answered
            subject = event["data"].get("message", {}).get("subject")
            print(event["id"], event["type"], ascii(subject), flush=True)  # a stranger's words
            DONE.add(event["id"])
        self.answer(204)

    def answer(self, status):
        self.close_connection = True
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args): pass


if __name__ == "__main__":
    SECRET = os.environ["RELAY_WEBHOOK_SECRET"]
    port = int(os.environ.get("PORT", "8092"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    print(f"listening at http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
    try: server.serve_forever()
    except KeyboardInterrupt: pass
