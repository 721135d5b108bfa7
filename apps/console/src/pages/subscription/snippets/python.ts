import type { Snippet } from './snippet.js';

const server = `

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        genuine = is_genuine(self.headers, body)
        if genuine:
            print("genuine", body.decode(), flush=True)
        self.send_response(204 if genuine else 400)
        self.end_headers()


ThreadingHTTPServer(("", 4000), Receiver).serve_forever()
`;

const content = `    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "").split(" ")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    content = f"{headers.get('webhook-id')}.{timestamp}.".encode() + body`;

export const PYTHON: Snippet = {
  language: 'Python',
  run: 'python3 receiver.py',
  needs: { ed25519: 'pip install cryptography' },
  code: {
    'hmac-sha256': `# receiver.py
import base64
import hmac
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))


def is_genuine(headers, body):
${content}
    digest = hmac.digest(KEY, content, "sha256")
    expected = b"v1," + base64.b64encode(digest)
    return any(hmac.compare_digest(given.encode(), expected) for given in signatures)
${server}`,
    ed25519: `# receiver.py
import base64
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

KEY = Ed25519PublicKey.from_public_bytes(
    base64.b64decode(os.environ["WEBHOOK_PUBLIC_KEY"].removeprefix("whpk_"))
)


def is_genuine(headers, body):
${content}
    return any(is_signature(given, content) for given in signatures)


def is_signature(given, content):
    version, _, signature = given.partition(",")
    try:
        KEY.verify(base64.b64decode(signature), content)
        return version == "v1a"
    except (InvalidSignature, ValueError):
        return False
${server}`,
  },
};
