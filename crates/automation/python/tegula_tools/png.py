"""Reads pictures of 8 bits a channel, not interlaced, from PNG files (ISO/IEC 15948).  Needs numpy."""
import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Colour type -> channels.
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def read(path):
    """u8[height, width, 3]; grey ones have three equal channels, and transparency is left out."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:8] != SIGNATURE:
        raise ValueError(f"{path} is no PNG file")
    at, packed = 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at:at + 4]), data[at + 4:at + 8]
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _method, _filter, interlaced = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    if depth != 8 or colour not in CHANNELS or interlaced:
        raise ValueError(f"{path} has a form that is not read")
    channels = CHANNELS[colour]
    picture = unfiltered(zlib.decompress(packed), height, width, channels)
    return np.repeat(picture[:, :, :1], 3, 2) if channels < 3 else picture[:, :, :3]


def unfiltered(data, height, width, channels):
    """Each row is stored as what its filter did not predict from the pixels at the left and above."""
    rows = np.frombuffer(data, np.uint8).reshape(height, 1 + width * channels)
    above = np.zeros((width, channels), np.int32)
    picture = np.empty((height, width, channels), np.uint8)
    for y, stored in enumerate(rows):
        kind, row = stored[0], stored[1:].reshape(width, channels).astype(np.int32)
        if kind == 1:
            row = np.cumsum(row, 0)
        elif kind == 2:
            row = row + above
        elif kind in (3, 4):
            row = predicted(row.tolist(), above.tolist(), kind)
        above = row & 255
        picture[y] = above
    return picture


def predicted(row, above, kind):
    """Filters whose pixels depend on the one at the left: the mean, or Paeth's choice."""
    channels = len(above[0])
    left, corner = [0] * channels, [0] * channels
    for pixel, up in zip(row, above):
        for c in range(channels):
            a, b, d = left[c], up[c], corner[c]
            if kind == 3:
                guess = (a + b) // 2
            else:
                p = a + b - d
                guess = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - d), 2, d))[2]
            pixel[c] = (pixel[c] + guess) & 255
        left, corner = pixel, up
    return np.array(row)
