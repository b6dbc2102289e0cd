"""Decodes the PNGs that nade writes, with nothing but Python: three channels of eight bits, any filter.

As a program: width and height, then the red (of grey images the only) level of each pixel, row by row.
"""
import struct
import sys
import zlib


def read_png(path):
    """Width, height and the rows, each bytes of red, green, blue in turn."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 2)
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    raw, stride, before, rows = zlib.decompress(packed), 3 * width, bytes(3 * width), []
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a, b, c = line[i - 3] if i >= 3 else 0, before[i], before[i - 3] if i >= 3 else 0
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) % 256
        before = bytes(line)
        rows.append(before)
    return width, height, rows


if __name__ == "__main__":
    found_width, found_height, found = read_png(sys.argv[1])
    print(found_width, found_height)
    for row in found:
        print(*row[0::3])
