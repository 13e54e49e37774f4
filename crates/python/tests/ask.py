"""One request as a user of the command makes it; prints what is wrong.

  ask.py MODEL.onnx|PACKAGE.tgl [NAME FILE.npy]

Status 1: refused, the report is on stdout. 0: not refused."""

import sys

import numpy as np

import tegula

file, *given = sys.argv[1:]
try:
    session = tegula.load(file) if file.endswith(".tgl") else tegula.compile(file)
    if given:
        session.run({given[0]: np.load(given[1])})
except tegula.Error as error:
    print(error)
    sys.exit(1)
