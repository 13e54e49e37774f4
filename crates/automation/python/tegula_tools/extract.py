#!/usr/bin/env python3
"""Extracts one member of a wheel (zip) or an npm tarball into a file.

  extract.py ARCHIVE MEMBER DEST

DEST appears whole or not at all: it is written under another name and renamed."""
import os
import shutil
import sys
import tarfile
import zipfile


def open_member(archive, member):
    if zipfile.is_zipfile(archive):
        return zipfile.ZipFile(archive).open(member)
    return tarfile.open(archive).extractfile(member)


def main():
    archive, member, dest = sys.argv[1:]
    part = dest + ".part"
    try:
        source = open_member(archive, member)
    except KeyError:
        sys.exit(f"{archive} has no member {member}")
    with source, open(part, "wb") as out:
        shutil.copyfileobj(source, out)
    os.replace(part, dest)


if __name__ == "__main__":
    main()
