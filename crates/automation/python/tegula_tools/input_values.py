"""What a model is fed with, drawn by a rule of `data/models.json` (`values`).

  uniform:LO:HI | normal | normal:DEVIATION | ids:LO:HI (HI excluded) | zeros | ones | const:X
  smooth:MEAN:DEVIATION    numbers that change slowly along the last two axes, as in a spectrogram
  speech:PEAK              a voice: harmonics of a pitch that glides, syllables with pauses, a little noise
  tokens:LO:HI             ids as often as words are: few common ones (next to LO), many rare ones
  tokens:LO:HI:FIRST:LAST  the same between two marks
  text                     bytes of a program in C
  image:NAME:LO:HI         a picture of `data/models.json` (`images`), its 0 to 255 as LO to HI; of 3 or 1 channels, on the
                           second axis or the last; rows of a batch and later steps see other parts of it

The generator is numpy's PCG64; seed = first 8 bytes of sha256(id + "/" + input name), little endian, and for later steps
sha256(id + "/" + input name + "/" + step).  Needs numpy."""
import hashlib

import numpy as np

from tegula_tools import png

SAMPLES_PER_SECOND = 16000
TEXT = b"""#include <stdio.h>
#include <stdlib.h>

/* Counts the boats of each harbour in a file of lines "HARBOUR NUMBER". */
static long count(const char *path) {
    char name[64];
    long number, sum = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    while (fscanf(file, "%63s %ld", name, &number) == 2) {
        printf("%-20s %6ld\\n", name, number);
        sum += number;
    }
    fclose(file);
    return sum;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        printf("%s: %ld\\n", argv[i], count(argv[i]));
    }
    return 0;
}
"""


def draw(model_id, name, step, rule, shape, dtype, images=None):
    """The input of a model in a step. `images`: file by name."""
    key = f"{model_id}/{name}" + (f"/{step}" if step else "")
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")
    rng = np.random.Generator(np.random.PCG64(seed))
    kind, *given = rule.split(":")
    numbers = [float(number) for number in given] if kind != "image" else []
    match kind:
        case "uniform":
            values = rng.uniform(*numbers, shape)
        case "normal":
            values = rng.standard_normal(shape) * (numbers[0] if numbers else 1)
        case "ids":
            values = rng.integers(int(numbers[0]), int(numbers[1]), shape)
        case "zeros" | "ones":
            values = np.full(shape, 0 if kind == "zeros" else 1)
        case "const":
            values = np.full(shape, numbers[0])
        case "smooth":
            values = numbers[0] + numbers[1] * smooth(rng, shape)
        case "speech":
            values = numbers[0] * speech(rng, shape)
        case "tokens":
            values = tokens(rng, shape, *map(int, numbers))
        case "text":
            values = text(rng, shape)
        case "image":
            low, high = map(float, given[1:])
            values = low + (high - low) / 255 * image(rng, step, png.read(images[given[0]]), shape)
        case _:
            raise SystemExit(f"{model_id}: input {name} has no rule `{rule}`")
    return values.astype(dtype)


def blurred(x, axis, width):
    """The mean over a window of odd width along an axis, twice; ends are repeated."""
    for _ in range(2):
        padded = np.pad(x, [(width // 2,) * 2 if i == axis % x.ndim else (0, 0) for i in range(x.ndim)], "edge")
        x = np.lib.stride_tricks.sliding_window_view(padded, width, axis).mean(-1)
    return x


def smooth(rng, shape):
    """Noise of mean 0 and deviation 1, blurred along the last two axes that are longer than 1."""
    x = rng.standard_normal(shape)
    for axis in [axis for axis, size in enumerate(shape) if size > 4 and axis > 0][-2:] or [len(shape) - 1]:
        x = blurred(x, axis, 5)
    return (x - x.mean()) / x.std()


def speech(rng, shape):
    """Rows of a voice, at most 1; an axis of 1 at the end is no time."""
    length = shape[-2] if len(shape) > 2 and shape[-1] == 1 else shape[-1]
    rows = []
    for _ in range(int(np.prod(shape)) // length):
        time = np.arange(length) / SAMPLES_PER_SECOND
        pitch = rng.uniform(110, 220) * (1 + 0.1 * np.sin(2 * np.pi * (rng.uniform(1, 3) * time + rng.uniform())))
        phase = 2 * np.pi * np.cumsum(pitch) / SAMPLES_PER_SECOND
        formants = rng.uniform([300, 900, 2200], [800, 2000, 3000])
        row = np.zeros(length)
        for harmonic in range(1, 25):
            nearness = np.exp(-((harmonic * 160 - formants) / 250) ** 2 / 2).sum()
            row += (0.05 + nearness) / harmonic**0.5 * np.sin(harmonic * phase + rng.uniform(0, 6))
        syllables = np.clip(np.sin(2 * np.pi * (rng.uniform(3, 5) * time + rng.uniform(0.05, 0.2))) + 0.5, 0.02, None)
        row = row * syllables + 0.01 * rng.standard_normal(length)
        rows.append(row / np.abs(row).max())
    return np.stack(rows).reshape(shape)


def tokens(rng, shape, low, high, first=None, last=None):
    """Ranks of words by Zipf's law, each as the id so far above `low`."""
    ranks = np.exp(rng.uniform(0, np.log(high - low + 1), shape)) - 1
    ids = low + np.minimum(ranks.astype(np.int64), high - low - 1)
    if first is not None:
        ids[..., 0], ids[..., -1] = first, last
    return ids


def text(rng, shape):
    """Each row begins at another place of the text."""
    length, rows = shape[-1], int(np.prod(shape[:-1]))
    whole = np.frombuffer(TEXT * (length // len(TEXT) + 2), np.uint8)
    starts = rng.integers(0, len(TEXT), rows)
    return np.stack([whole[start:start + length] for start in starts]).reshape(shape)


def image(rng, step, picture, shape):
    """A picture [height, width, 3] fitted into a batch: all of it first, then parts of at least nine tenths."""
    last = shape[-1] in (1, 3) and shape[1] not in (1, 3)
    height, width, channels = (shape[1], shape[2], shape[3]) if last else (shape[2], shape[3], shape[1])
    rows = []
    for row in range(shape[0]):
        part = picture
        if step or row:
            tall, wide = (int(size * rng.uniform(0.9, 1)) for size in picture.shape[:2])
            top, left = rng.integers(0, picture.shape[0] - tall + 1), rng.integers(0, picture.shape[1] - wide + 1)
            part = picture[top:top + tall, left:left + wide]
        fitted = resized(part, height, width)
        fitted = fitted if channels == 3 else fitted.mean(2, keepdims=True)
        rows.append(fitted if last else fitted.transpose(2, 0, 1))
    return np.stack(rows)


def resized(picture, height, width):
    """By the mean of 4 x 4 nearest samples of each new pixel."""
    def places(new, old):
        return np.minimum(((np.arange(new * 4) + 0.5) * old / (new * 4)).astype(int), old - 1)

    picked = picture[places(height, picture.shape[0])][:, places(width, picture.shape[1])].astype(np.float64)
    return picked.reshape(height, 4, width, 4, -1).mean((1, 3))
