"""Models and packages cut off or changed: an error with a code, or a session; never anything else."""

import models
import numpy as np
import pytest

import tegula

MANY = 300


def damaged(good):
    for length in range(0, len(good), max(1, len(good) // MANY)):
        yield good[:length]
    rng = np.random.default_rng(7)
    for _ in range(MANY):
        changed = bytearray(good)
        changed[rng.integers(len(good))] ^= 1 << rng.integers(8)
        yield bytes(changed)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    path = tmp_path_factory.mktemp("package") / "add.tgl"
    tegula.compile(models.add()).save(path)
    return path.read_bytes()


def survives(function, given):
    try:
        function(given, threads=1)
        return 0
    except tegula.Error as error:
        assert error.code != "internal" and str(error).startswith("error[")
        return 1


def test_damaged_models():
    assert sum(survives(tegula.compile, given) for given in damaged(models.product()[0])) > MANY // 2


def test_damaged_packages(package):
    assert sum(survives(tegula.load, given) for given in damaged(package)) > MANY
