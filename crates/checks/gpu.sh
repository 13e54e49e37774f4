#!/bin/sh
# Runs the kernel list on this machine's NVIDIA GPU; rows are written to `results` as they are done, and a second call goes
# on where the first one stopped. gpu.sh [--part correctness|gemm|attention|memory|decode] [--seconds N]
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/tegula-gpu" gpu --kernels "$here/kernels" --out "$here/results" "$@"
