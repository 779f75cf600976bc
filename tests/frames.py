"""Compressed files that are divided at chosen places, made here to the formats' specifications.

gpuhist divides a file of frames into parts of at least PART_BYTES compressed bytes, and one with an
index into parts of whole streams, if its blocks have INDEX_BYTES on average. To allow parts with few
bytes of data, or none, each is followed by a hole: a skippable frame, or members without data
that have long headers. The file system stores no holes, and a decoder skips them fast.

A file is a list of bytes, and of the lengths of runs of NULs. Blocks are stored, not compressed.
"""
import bz2
import os
import random
import struct
import time
import zlib

PART_BYTES = 1 << 20
INDEX_BYTES = 64 << 10


def write(name, segments):
    with open(name, "wb") as file:
        for segment in segments:
            if isinstance(segment, int):
                file.seek(segment, 1)
            else:
                file.write(segment)
        file.truncate()


def feed(pieces, pipe, pause):
    """Writes the pieces to a pipe, with pauses between them."""
    try:
        for piece in pieces:
            os.write(pipe, piece)
            time.sleep(pause)
    except BrokenPipeError:
        pass
    os.close(pipe)


def pieces_of(data, size):
    return [data[i:i + size] for i in range(0, len(data), size)]


def skippable(magic, size):
    return [struct.pack("<LL", magic, size), size]


# --- zstd: RFC 8878 ------------------------------------------------------------------------------

def zstd_frame(data):
    """A single segment, the length of its content in 4 bytes, raw blocks."""
    blocks = pieces_of(data, 1 << 17) or [b""]
    out = [b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<L", len(data))]
    for i, block in enumerate(blocks):
        header = len(block) << 3 | (i == len(blocks) - 1)
        out.append(struct.pack("<L", header)[:3] + block)
    return b"".join(out)


def zstd_hole(size=PART_BYTES):
    return skippable(0x184d2a53, size)


# --- lz4: doc/lz4_Frame_format.md ----------------------------------------------------------------

def xxh32(data):
    """The hash of fewer than 4 bytes: doc/xxhash_spec.md."""
    value = 374761393 + len(data)
    for byte in data:
        value = (value + byte * 374761393) & 0xffffffff
        value = (value << 11 | value >> 21) * 2654435761 & 0xffffffff
    value = (value ^ value >> 15) * 2246822519 & 0xffffffff
    value = (value ^ value >> 13) * 3266489917 & 0xffffffff
    return value ^ value >> 16


def lz4_frame(data):
    """Independent blocks of up to 64 KiB, no checksums."""
    head = b"\x60\x40"
    out = [b"\x04\x22\x4d\x18" + head + bytes([xxh32(head) >> 8 & 0xff])]
    out += [struct.pack("<L", 1 << 31 | len(block)) + block for block in pieces_of(data, 1 << 16)]
    return b"".join([*out, bytes(4)])


# --- BGZF: the SAM/BAM format specification, 4.1 -------------------------------------------------

def bgzf_member(data, field_bytes=None):
    """Up to 65,000 bytes in a stored block. With field_bytes, [member], that has such a field."""
    body = struct.pack("<BHH", 1, len(data), len(data) ^ 0xffff) + data
    end = struct.pack("<LL", zlib.crc32(data), len(data))
    other = 0 if field_bytes is None else 4 + field_bytes
    size = 18 + other + len(body) + len(end)
    head = struct.pack("<4sLBBH", b"\x1f\x8b\x08\x04", 0, 0, 255, 6 + other)
    own = struct.pack("<2sHH", b"BC", 2, size - 1)
    if field_bytes is None:
        return head + own + body + end
    return [head + own + struct.pack("<2sH", b"ZZ", field_bytes), field_bytes, body + end]


def bgzf_hole():
    member = bgzf_member(b"", 65536 - 35)
    return member * (PART_BYTES // 65536)


# --- xz: https://tukaani.org/xz/xz-file-format.txt -----------------------------------------------

def xz_number(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7f | 0x80])
        number >>= 7
    return out + bytes([number])


def xz_padded(data):
    return data + bytes(-len(data) % 4)


def xz_block(data, has_check=True, chunk_bytes=1):
    """A block, and its record in the index. LZMA2 stores a chunk of one byte in four."""
    head = b"\x02\0\x21\x01\x10\0\0\0"
    if chunk_bytes == 1:
        body = bytearray(4 * len(data))
        body[0::4] = b"\x02" * len(data)
        body[3::4] = data
    else:
        body = bytearray().join(struct.pack(">BH", 2, len(chunk) - 1) + chunk
                                for chunk in pieces_of(data, chunk_bytes))
    body[:1] = b"\x01" * (len(data) > 0)  # the first resets the dictionary
    check = struct.pack("<L", zlib.crc32(data)) if has_check else b""
    out = head + struct.pack("<L", zlib.crc32(head)) + bytes(body) + b"\0"
    return xz_padded(out) + check, xz_number(len(out) + len(check)) + xz_number(len(data))


def xz_stream(blocks, has_check=True):
    flags = bytes([0, has_check])
    records = b"".join(record for _, record in blocks)
    index = xz_padded(b"\0" + xz_number(len(blocks)) + records)
    index += struct.pack("<L", zlib.crc32(index))
    end = struct.pack("<L", len(index) // 4 - 1) + flags
    return b"".join([b"\xfd7zXZ\0", flags, struct.pack("<L", zlib.crc32(flags)),
                     *(block for block, _ in blocks), index,
                     struct.pack("<L", zlib.crc32(end)), end, b"YZ"])


# --- files of pieces -----------------------------------------------------------------------------

def zstd_file(pieces, rng):
    """Each piece is a part: frames before, after or around a hole."""
    out = []
    for piece in pieces:
        at = rng.choice([0, len(piece), rng.randrange(len(piece) + 1)])
        out += [zstd_frame(piece[:at]), *zstd_hole(), zstd_frame(piece[at:])] \
            if rng.randrange(4) == 0 else [zstd_frame(piece), *zstd_hole()]
    return out


def lz4_file(pieces, _):
    return [segment for piece in pieces for segment in [lz4_frame(piece), *zstd_hole()]]


def bgzf_file(pieces, _):
    out = []
    for piece in pieces:
        out += [bgzf_member(part) for part in pieces_of(piece, 65000) or [b""]]
        out += bgzf_hole()
    return out


def xz_streams(pieces, rng):
    """Each piece is a stream. The last one has to be long, so that the average block is."""
    has_check = rng.randrange(2) == 1
    return [xz_stream([xz_block(piece, has_check)] if piece else [], has_check) + bytes(rng.choice([0, 4]))
            for piece in pieces]


def xz_blocks(pieces, rng):
    """Each piece is a block of one stream."""
    has_check = rng.randrange(2) == 1
    return [xz_stream([xz_block(piece, has_check) for piece in pieces if piece], has_check)]


# --- bzip2 ---------------------------------------------------------------------------------------

def bz2_streams(pieces, rng):
    """Each piece is a stream, and a part if it is not empty."""
    return [bz2.compress(piece, rng.choice([1, 9])) for piece in pieces]
