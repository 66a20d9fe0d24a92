"""Signatures that verifiers disagree about, each checked against libsodium."""

import hashlib

import nacl.bindings
import nacl.exceptions

from agents import OTHER, SENDER
from curve import BASE, L, P, add, challenge, decode, encode, multiply, secret_scalar, torsion_point

MESSAGE = b"relay:v1:POST:/v1/messages:" + hashlib.sha256(b"{}").hexdigest().encode() + b":1760000000"
TORSION = torsion_point()


def libsodium_accepts(message, signature, public_key):
    try:
        nacl.bindings.crypto_sign_open(signature + message, public_key)
        return True
    except (nacl.exceptions.BadSignatureError, ValueError):
        return False


def small_order_encodings():
    """The eight points of small order in every encoding that lenient decoders read as them."""
    found = {}
    for i in range(8):
        x, y = multiply(i, TORSION) if i else (0, 1)
        for spelled in (y, y + P):
            if spelled >= 2**255:
                continue
            for sign in (0, 1):
                if x != 0 and sign != x & 1:
                    continue
                data = (spelled | sign << 255).to_bytes(32, "little")
                is_canonical = spelled < P and (x != 0 or sign == 0)
                found[data] = is_canonical
    assert len(found) == 14
    return sorted(found.items())


def forged(public_key, point, order):
    """A signature that anybody can make for a key of small order: R = [S]B where [k]A vanishes."""
    for s in range(1, 1000):
        r = encode(multiply(s, BASE))
        if challenge(r, public_key, MESSAGE) % order == 0:
            return r + s.to_bytes(32, "little")
    raise AssertionError("no forgery found")


def order_of(point):
    order = 1
    while multiply(order, point) != (0, 1):
        order += 1
    return order


def signature_by(scalar, public_key, nonce, r):
    s = (nonce + challenge(r, public_key, MESSAGE) * scalar) % L
    return r + s.to_bytes(32, "little")


def signature_cases():
    key, scalar = SENDER.public_key, secret_scalar(SENDER.seed)
    honest = SENDER.key.sign(MESSAGE)
    s = int.from_bytes(honest[32:], "little")
    yield "an honest signature", MESSAGE, honest, key, True
    yield "of another message", MESSAGE + b"0", honest, key, False
    yield "by another key", MESSAGE, honest, OTHER.public_key, False
    yield "a bit of R flipped", MESSAGE, bytes([honest[0] ^ 1]) + honest[1:], key, False
    yield "a bit of S flipped", MESSAGE, honest[:32] + bytes([honest[32] ^ 1]) + honest[33:], key, False
    yield "all zero", MESSAGE, bytes(64), key, False
    for factor in range(1, 8):
        shifted = honest[:32] + (s + factor * L).to_bytes(32, "little")
        yield f"S + {factor}L", MESSAGE, shifted, key, False
    yield "S = L, R and A of small order", MESSAGE, encode((0, 1)) + L.to_bytes(32, "little"), encode((0, 1)), False
    yield "S of all ones", MESSAGE, honest[:32] + b"\xff" * 32, key, False

    for data, is_canonical in small_order_encodings():
        point = decode(data)
        spelled = "" if is_canonical else ", not canonical"
        name = f"A of order {order_of(point)}{spelled}: {data.hex()[:6]}..{data.hex()[-2:]}"
        yield name, MESSAGE, forged(data, point, order_of(point)), data, False
        name = f"R of order {order_of(point)}{spelled}: {data.hex()[:6]}..{data.hex()[-2:]}"
        yield name, MESSAGE, signature_by(scalar, key, 0, data), key, False

    mixed_key = encode(add(multiply(scalar, BASE), TORSION))
    for wanted in (0, 1, 4):
        nonce = 1
        while challenge(encode(multiply(nonce, BASE)), mixed_key, MESSAGE) % 8 != wanted:
            nonce += 1
        r = encode(multiply(nonce, BASE))
        name = f"A of mixed order, [k] of its small part is {'0' if wanted == 0 else f'{wanted} times it'}"
        yield name, MESSAGE, signature_by(scalar, mixed_key, nonce, r), mixed_key, wanted == 0
    nonce = 1
    while True:
        r = encode(add(multiply(nonce, BASE), TORSION))
        if challenge(r, mixed_key, MESSAGE) % 8 == 7:
            break
        nonce += 1
    yield "A and R of mixed order, small parts cancel", MESSAGE, signature_by(scalar, mixed_key, nonce, r), mixed_key, True
    r = encode(add(multiply(5, BASE), TORSION))
    yield "R of mixed order, A of prime order", MESSAGE, signature_by(scalar, key, 5, r), key, False
    for name, data in not_points():
        yield f"A is {name}", MESSAGE, honest, data, False
        yield f"R is {name}", MESSAGE, data + honest[32:], key, False


def not_points():
    y = 2
    while decode(y.to_bytes(32, "little")) is not None:
        y += 1
    yield "no point", y.to_bytes(32, "little")
    yield "no point, all ones", b"\xff" * 32
    large = next(y for y in range(2, 19) if decode(y.to_bytes(32, "little")) is not None)
    yield "a point of large order with y >= p", (large + P).to_bytes(32, "little")


def vectors():
    cases = []
    for name, message, signature, public_key, valid in signature_cases():
        assert libsodium_accepts(message, signature, public_key) == valid, name
        cases.append(
            {
                "name": name,
                "message_hex": message.hex(),
                "signature_hex": signature.hex(),
                "public_key_hex": public_key.hex(),
                "valid": valid,
            }
        )
    keys = [("an honest key", SENDER.public_key, True)]
    keys.append(("of mixed order", encode(add(multiply(secret_scalar(SENDER.seed), BASE), TORSION)), True))
    keys += [(f"of small order {data.hex()[:6]}..{data.hex()[-2:]}", data, False) for data, _ in small_order_encodings()]
    keys += [(name, data, False) for name, data in not_points()]
    return {
        "signatures": cases,
        "keys": [{"name": name, "public_key_hex": data.hex(), "strict": ok} for name, data, ok in keys],
    }
