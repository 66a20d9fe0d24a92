"""The strict rule for Ed25519 by libsodium: docs/verification.md, section 6."""

from nacl.bindings import crypto_sign_open
from nacl.exceptions import BadSignatureError

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P


def verify_signature(message, signature, public_key):
    """libsodium's own answer; it needs no help."""
    try:
        crypto_sign_open(signature + message, public_key)
        return True
    except BadSignatureError:
        return False


def is_strict_public_key(data):
    """Canonical, on the curve, not of small order. libsodium's own test asks for more than that."""
    number = int.from_bytes(data, "little")
    y, sign = number % 2**255, number >> 255
    if y >= P:
        return False
    x = _x_of(y, sign)
    if x is None:
        return False
    point = (x, y)
    for _ in range(3):
        point = _double(point)
    return point != (0, 1)


def _x_of(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P != 0 or (x == 0 and sign == 1):
        return None
    return x if x % 2 == sign else P - x


def _double(point):
    x, y = point
    product = D * x * x * y * y % P
    return 2 * x * y * pow(1 + product, -1, P) % P, (y * y + x * x) * pow(1 - product, -1, P) % P
