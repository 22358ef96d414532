"""Event nodes made by hand, laid out in memory as another Paddle might."""

from __future__ import annotations

import ctypes
import random

Text = [("characters", ctypes.c_char_p), ("size", ctypes.c_size_t), ("inline", ctypes.c_char * 16)]
Pointers = [(name, ctypes.c_void_p) for name in ("begin", "end", "capacity")]


class StdString(ctypes.Structure):
    _fields_ = Text

    @classmethod
    def of(cls, text):
        return cls(text.encode(), len(text))


class StdVector(ctypes.Structure):
    _fields_ = Pointers

    @classmethod
    def of(cls, members):
        array = (ctypes.c_void_p * len(members))(*map(ctypes.addressof, members))
        begin = ctypes.addressof(array) if members else None
        end = begin + ctypes.sizeof(array) if members else None
        vector = cls(begin, end, end)
        vector.array = array
        return vector


class MadeEvent(ctypes.Structure):
    """An event as another Paddle might lay it out; a ``Structure`` holds its address as theirs."""

    _fields_ = [
        ("peak_allocated", ctypes.c_uint64),
        ("place_text", StdString),
        ("unused", ctypes.c_uint32),
        ("type", ctypes.c_uint32),
        ("addr", ctypes.c_uint64),
        ("current_allocated", ctypes.c_uint64),
        ("current_reserved", ctypes.c_uint64),
        ("peak_reserved", ctypes.c_uint64),
        ("increase_bytes", ctypes.c_int64),
        ("timestamp_ns", ctypes.c_uint64),
    ]

    @property
    def place(self):
        return self.place_text.characters.decode()


class MadeNode(ctypes.Structure):
    _fields_ = [
        ("end_ns", ctypes.c_uint64),
        ("events", StdVector),
        ("start_ns", ctypes.c_uint64),
        ("children", StdVector),
        ("text", StdString),
    ]

    @property
    def name(self):
        return self.text.characters.decode()


def made_node(chance, *, name, children=(), places=(), reserves=False):
    """Make a node; ``reserves``: memory is reserved in the host's name too, as pinned memory is."""
    node = MadeNode(
        start_ns=chance.getrandbits(60),
        end_ns=chance.getrandbits(60),
        text=StdString.of(name),
    )
    node.mem_node, node.children_node = [], list(children)
    for place in places:
        is_host = place == "Place(cpu)"
        kind = chance.randrange(2 if is_host and not reserves else 4)
        reserved = 0 if is_host and kind < 2 else chance.getrandbits(33)
        event = MadeEvent(
            chance.getrandbits(34),
            StdString.of(place),
            chance.getrandbits(32),
            kind,
            chance.getrandbits(47),
            chance.getrandbits(34),
            reserved,
            reserved,
            (1 if kind in (0, 2) else -1) * (chance.getrandbits(30) + 1),
            chance.getrandbits(60),
        )
        node.mem_node.append(event)
    # Both by value, and their arrays held beside.
    events, below = StdVector.of(node.mem_node), StdVector.of(node.children_node)
    node.events, node.children = events, below
    node.arrays = events, below
    return node


def made_trees(*places, reserves=False):
    chance = random.Random(3)
    trees = {}
    for thread in (17, 4):
        inner = [
            made_node(
                chance,
                name=f"Local_{number}",
                places=chance.choices(places, k=number),
                reserves=reserves,
            )
            for number in range(5)
        ]
        kernels = [made_node(chance, name=f"Global_Kernel{number}") for number in range(3)]
        inner.append(made_node(chance, name="Local_Kernel", children=kernels))
        nodes = [
            made_node(
                chance,
                name=f"Global_GradNode{number}",
                places=places,
                children=inner[:number],
                reserves=reserves,
            )
            for number in range(7)
        ]
        trees[thread] = made_node(
            chance, name="root", places=places, children=nodes, reserves=reserves
        )
    return trees
