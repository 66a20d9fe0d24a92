"""Verifies mails with opendkim's library, the argument: [{"mail", "record"}] in, whether each passes out."""
import ctypes
import json
import sys

lib = ctypes.CDLL(sys.argv[1])
DKIM_STAT_OK = 0
pointer, size, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
LOOKUP = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, ctypes.POINTER(ctypes.c_char), size)
for function, result, arguments in [
    ("dkim_init", pointer, [pointer, pointer]),
    ("dkim_verify", pointer, [pointer, text, pointer, ctypes.POINTER(ctypes.c_int)]),
    ("dkim_set_key_lookup", ctypes.c_int, [pointer, LOOKUP]),
    ("dkim_chunk", ctypes.c_int, [pointer, text, size]),
    ("dkim_eom", ctypes.c_int, [pointer, pointer]),
    ("dkim_free", ctypes.c_int, [pointer]),
]:
    getattr(lib, function).restype, getattr(lib, function).argtypes = result, arguments

published = b""


@LOOKUP
def look_up(_dkim, _signature, buffer, length):
    record = published[: length - 1] + b"\0"
    ctypes.memmove(buffer, record, len(record))
    return 0


library = lib.dkim_init(None, None)
lib.dkim_set_key_lookup(library, look_up)


def verify(mail):
    status = ctypes.c_int(0)
    dkim = lib.dkim_verify(library, b"test", None, ctypes.byref(status))
    data = mail.encode("latin-1")
    lib.dkim_chunk(dkim, data, len(data))
    lib.dkim_chunk(dkim, b"", 0)
    result = lib.dkim_eom(dkim, None)
    lib.dkim_free(dkim)
    return result == DKIM_STAT_OK


verdicts = []
for case in json.load(sys.stdin):
    published = case["record"].encode("latin-1")
    verdicts.append(verify(case["mail"]))
print(json.dumps(verdicts))
