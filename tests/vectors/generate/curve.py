"""Just enough edwards25519 arithmetic to build signatures that verifiers disagree about.

Slow and in variable time; it handles no secret. RFC 8032 section 5.1.
"""

import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_MINUS_1 = pow(2, (P - 1) // 4, P)


def add(a, b):
    (x1, y1), (x2, y2) = a, b
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, P - 2, P) % P
    y = (y1 * y2 + x1 * x2) * pow(1 - product, P - 2, P) % P
    return x, y


def multiply(scalar, point):
    result = (0, 1)
    while scalar > 0:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def x_of(y, sign):
    """The x of a y and a sign, or None when there is no such point (5.1.3)."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * SQRT_MINUS_1 % P
    if (x * x - square) % P != 0:
        return None
    return x if x & 1 == sign else (P - x) % P


def encode(point):
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decode(data):
    """The point of 32 bytes as lenient decoders read them (y taken mod p), or None."""
    number = int.from_bytes(data, "little")
    y = number % 2**255 % P
    x = x_of(y, number >> 255)
    return None if x is None else (x, y)


BASE = (x_of(4 * pow(5, P - 2, P) % P, 0), 4 * pow(5, P - 2, P) % P)


def torsion_point():
    """A point of order 8."""
    for y in range(2, 100):
        x = x_of(y, 0)
        if x is None:
            continue
        point = multiply(L, (x, y))
        if multiply(4, point) != (0, 1):
            return point
    raise AssertionError("no point of order 8 found")


def challenge(r, public_key, message):
    return int.from_bytes(hashlib.sha512(r + public_key + message).digest(), "little") % L


def secret_scalar(seed):
    number = int.from_bytes(hashlib.sha512(seed).digest()[:32], "little")
    return number & (2**254 - 8) | 2**254
