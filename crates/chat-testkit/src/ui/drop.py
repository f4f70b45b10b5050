"""Drops files on the topmost window at a place of it, as a file manager does (the XDND protocol,
https://www.freedesktop.org/wiki/Specifications/XDND/): drop.py WINDOW X Y URI…

Says what the window answered, and ends when it has taken the files, or refused them."""

import ctypes
import sys

x11 = ctypes.CDLL("libX11.so.6")
LONG = ctypes.c_long


class Client(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("sent", ctypes.c_int),
        ("display", ctypes.c_void_p), ("window", ctypes.c_ulong), ("kind", ctypes.c_ulong),
        ("format", ctypes.c_int), ("data", LONG * 5),
    ]


class Request(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("sent", ctypes.c_int),
        ("display", ctypes.c_void_p), ("owner", ctypes.c_ulong), ("requestor", ctypes.c_ulong),
        ("selection", ctypes.c_ulong), ("target", ctypes.c_ulong), ("property", ctypes.c_ulong),
        ("time", ctypes.c_ulong),
    ]


class Notify(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("sent", ctypes.c_int),
        ("display", ctypes.c_void_p), ("requestor", ctypes.c_ulong),
        ("selection", ctypes.c_ulong), ("target", ctypes.c_ulong), ("property", ctypes.c_ulong),
        ("time", ctypes.c_ulong),
    ]


class Event(ctypes.Union):
    _fields_ = [("type", ctypes.c_int), ("client", Client), ("request", Request),
                ("notify", Notify), ("room", LONG * 24)]


SELECTION_REQUEST, SELECTION_NOTIFY, CLIENT_MESSAGE = 30, 31, 33
for name in ["XOpenDisplay", "XDefaultRootWindow", "XCreateSimpleWindow", "XInternAtom"]:
    getattr(x11, name).restype = ctypes.c_ulong
display = ctypes.c_void_p(x11.XOpenDisplay(None))
root = ctypes.c_ulong(x11.XDefaultRootWindow(display))
target, x, y = int(sys.argv[1], 0), int(sys.argv[2]), int(sys.argv[3])
files = "".join(uri + "\r\n" for uri in sys.argv[4:]).encode()


def atom(name):
    return x11.XInternAtom(display, name.encode(), 0)


own = ctypes.c_ulong(x11.XCreateSimpleWindow(display, root, 0, 0, 1, 1, 0, 0, 0))
uris, copy, selection = atom("text/uri-list"), atom("XdndActionCopy"), atom("XdndSelection")
x11.XSetSelectionOwner(display, ctypes.c_ulong(selection), own, ctypes.c_ulong(0))


def tell(kind, *data):
    event = Event()
    event.client.type, event.client.window, event.client.kind = CLIENT_MESSAGE, target, atom(kind)
    event.client.format, event.client.data = 32, (LONG * 5)(own.value, *data)
    x11.XSendEvent(display, ctypes.c_ulong(target), 0, LONG(0), ctypes.byref(event))
    x11.XFlush(display)


def hand_over(asked):
    """Gives the files to whoever asks for them."""
    place = asked.property or asked.target
    known = asked.target == uris
    if known:
        x11.XChangeProperty(display, ctypes.c_ulong(asked.requestor), ctypes.c_ulong(place),
                            ctypes.c_ulong(uris), 8, 0, files, len(files))
    event = Event()
    event.notify.type, event.notify.requestor = SELECTION_NOTIFY, asked.requestor
    event.notify.selection, event.notify.target = asked.selection, asked.target
    event.notify.property, event.notify.time = place if known else 0, asked.time
    x11.XSendEvent(display, ctypes.c_ulong(asked.requestor), 0, LONG(0), ctypes.byref(event))
    x11.XFlush(display)


def until(kind):
    """Waits for this answer of the window, and hands the files over meanwhile."""
    event = Event()
    while True:
        x11.XNextEvent(display, ctypes.byref(event))
        if event.type == SELECTION_REQUEST:
            hand_over(event.request)
        elif event.type == CLIENT_MESSAGE and event.client.kind == atom(kind):
            return event.client.data


tell("XdndEnter", 5 << 24, uris, 0, 0)
while True:
    tell("XdndPosition", 0, x << 16 | y, 0, copy)
    # The first answer may come before the window has looked what is there.
    if until("XdndStatus")[1] & 1:
        break
tell("XdndDrop", 0, 0, 0, 0)
taken = until("XdndFinished")[1] & 1
print("taken" if taken else "refused")
