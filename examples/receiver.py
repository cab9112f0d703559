"""A receiver of webhooks, with the standard library alone: HOOK_SECRET="whsec_…" python3 examples/receiver.py
(several secrets, separated by spaces, while one replaces another). It listens at http://127.0.0.1:8080, or at the port PORT.
Written after the Standard Webhooks specification; Python has an official package of that name too."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 5 * 60
KEYS = [base64.b64decode(secret.removeprefix("whsec_")) for secret in os.environ.get("HOOK_SECRET", "").split()]
seen = set()


def is_genuine(headers, body):
    """Signed with one of the secrets, and not long ago."""
    message_id, timestamp, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not timestamp.isascii() or not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    # The signature covers the received bytes: verify them first, then parse them.
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in KEYS]
    given = signatures.encode().split(b" ")
    return any(hmac.compare_digest(one, other) for one in expected for other in given)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if not is_genuine(self.headers, body):
            return self.answer(401, b"the signature is not valid, or its time is more than five minutes away")
        event = json.loads(body)
        # Delivery is at least once: an id that was seen before is the same event.
        if event["id"] not in seen:
            print(json.dumps(event, ensure_ascii=False), flush=True)
            seen.add(event["id"])
        # Answer last: a 2xx says that you have the event, and it is not sent again.
        self.answer(204, b"")

    def answer(self, status, body):
        self.send_response(status)
        if body:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
print(f"listening on port {server.server_port}", flush=True)
server.serve_forever()
